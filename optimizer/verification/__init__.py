"""Verification: rules are tried on random subplans and small inputs, and certificates are checked."""

from midstream.optimizer.verification.certificates import check_certificate, check_proof
from midstream.optimizer.verification.rule_check import RuleCheck, verify_guard, verify_rule
from midstream.optimizer.verification.subplans import Subplans

__all__ = ["RuleCheck", "Subplans", "check_certificate", "check_proof", "verify_guard", "verify_rule"]
