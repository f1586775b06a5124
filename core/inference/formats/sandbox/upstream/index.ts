export { sandboxAdapter } from './adapter.ts';
export { modelNames as sandboxModelNames } from './models.ts';
export { optionBounds as sandboxOptionBounds } from './options.ts';
export { createSandboxUpstream, type SandboxCall, type SandboxUpstream } from './upstream.ts';
