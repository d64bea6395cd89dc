"""A course of students whose scripted players dial in to a server, and a teacher who hosts their tournament."""
