"""What a query would have cost under other plans over time, and what taking turns among them costs."""
