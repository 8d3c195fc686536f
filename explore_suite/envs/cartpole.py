"""Cart-pole: dm_control's swing-up with its shaped reward, and with its sparse one."""

from explore_suite.envs.dm_control_env import DMCEnv
from explore_suite.envs.dm_control_import import control, suite

_CART_RANGE = 0.25  # metres from the middle; upstream's sparse reward
_LEAST_COSINE = 0.995  # of the pole's angle from upright; upstream's sparse reward
LEAST_PAY_OF_SUCCESS = 0.39  # smallest shaped reward of a successful state


class CartpoleSwingup(DMCEnv):
    """Swing up a pole by moving the cart it hangs on. dm_control's `cartpole swingup`, unchanged.

    Observation (5): position of the cart x (m), cosine and sine of the pole's angle from upright;
        velocity of the cart (m/s) and of the pole (rad/s).
    Action (1): force on the cart, in [-1, 1] (10 N).
    Reward: r = upright centered small_control small_velocity, of the cart's position x (m), the
        pole's angle a and velocity w (rad/s) and the action u:
        upright = (1 + cos a) / 2;
        centered = (1 + 0.1^((x / 2)^2)) / 2;
        small_control = (4 + max(0, 1 - u^2)) / 5;
        small_velocity = (1 + 0.1^((w / 5)^2)) / 2.
    Success: the pole stands, cos a >= 0.995 (within 5.7 degrees), and the cart is within 0.25 m of
        the middle: what CartpoleSwingupSparse pays. Such a state earns 0.39 or more.
    Start: the cart in the middle and the pole hanging, with normal noise of standard deviation 0.01
        on both positions (m, rad) and both velocities.
    End: 1000 steps of 0.01 s, by truncation.
    Versions: v0, as in dm_control.
    """

    sparse = False

    def build(self) -> control.Environment:
        """dm_control's physics and task, with this class's kind of reward."""
        physics = suite.cartpole.Physics.from_xml_string(*suite.cartpole.get_model_and_assets())
        return control.Environment(physics, suite.cartpole.Balance(True, self.sparse))

    def succeeded(self, reward: float) -> bool:
        """The pole stands and the cart is near the middle."""
        # Reading the physics is slow, and few states pay so much.
        return reward >= LEAST_PAY_OF_SUCCESS and bool(
            abs(self.physics.cart_position()) <= _CART_RANGE
            and self.physics.pole_angle_cosine()[0] >= _LEAST_COSINE
        )

    def closeness(self) -> float:
        """The cosine of the pole's angle minus the cart's distance from the middle in metres."""
        return float(self.physics.pole_angle_cosine()[0] - abs(self.physics.cart_position()))


class CartpoleSwingupSparse(CartpoleSwingup):
    """Swing up a pole; only standing pays. dm_control's `cartpole swingup_sparse`, unchanged.

    Observation, action, success, end: as CartpoleSwingup.
    Reward: r = 1 if cos a >= 0.995 and |x| <= 0.25 m, else 0.
    Start: as CartpoleSwingup.
    Versions: v0, as in dm_control.
    """

    sparse = True
