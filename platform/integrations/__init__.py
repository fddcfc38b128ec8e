"""Integrations: further ways to reach people and to use Kith, built on the packages below."""
