"""Whether rules hold: random subplans of a rule's shape, both sides compared on small inputs."""

from midstream.optimizer.verification.rule_check import RuleCheck, verify_guard, verify_rule
from midstream.optimizer.verification.subplans import Subplans

__all__ = ["RuleCheck", "Subplans", "verify_guard", "verify_rule"]
