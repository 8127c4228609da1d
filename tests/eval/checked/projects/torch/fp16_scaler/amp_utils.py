import torch


class AmpStepper:
    """backward / unscale / clip / step / update, in that order, behind one call."""

    def __init__(self, optimizer, max_norm, init_scale=2.0**12):
        self.optimizer = optimizer
        self.max_norm = max_norm
        self.scaler = torch.amp.GradScaler("cpu", init_scale=init_scale)

    def _clip(self):
        params = [p for group in self.optimizer.param_groups for p in group["params"]]
        return torch.nn.utils.clip_grad_norm_(params, self.max_norm)

    def __call__(self, loss):
        """Returns the gradient norm before clipping and whether the weights were updated."""
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = self._clip()
        before = self.scaler.get_scale()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm.item(), self.scaler.get_scale() >= before

    def state_dict(self):
        return {"scaler": self.scaler.state_dict(), "optimizer": self.optimizer.state_dict()}
