"""From one agent to a trained team: rollout, replay, learning side by side, tests."""
