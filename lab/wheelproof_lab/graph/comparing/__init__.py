"""The state graph of the code compared with that of TLC, edge by edge."""
