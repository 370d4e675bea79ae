internal import ReachAgent
