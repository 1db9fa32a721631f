"""Who decides or acts: one module an agent. Holds nothing but this line: azure.durable_functions executes it."""
