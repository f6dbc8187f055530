"""LoRA on this computer, and the tuned model as a judge: the only folder that knows torch, transformers and peft."""
