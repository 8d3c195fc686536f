"""An environment that remembers what its agent was shown."""

import gymnasium


class WatchedEnv(gymnasium.Wrapper):
    """Keeps every observation in `seen`, and the first of each episode in `starts`."""

    def __init__(self, env):
        super().__init__(env)
        self.seen, self.starts = [], []

    def reset(self, **options):
        obs, info = super().reset(**options)
        self.seen.append(obs.tolist())
        self.starts.append(obs.tolist())
        return obs, info

    def step(self, action):
        result = super().step(action)
        self.seen.append(result[0].tolist())
        return result
