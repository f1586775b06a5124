// Names of the presets (presets.ts), as a file may say them.

export const presetNames = [
  'vllm',
  'ollama',
  'llamacpp',
  'tgi',
  'lmstudio',
  'groq',
  'together',
  'fireworks',
  'deepseek',
  'mistral',
  'xai',
  'openrouter',
] as const;
export type PresetName = (typeof presetNames)[number];
