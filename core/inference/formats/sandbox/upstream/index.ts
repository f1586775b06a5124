export { sandboxAdapter } from './adapter.ts';
export { createSandboxUpstream, type SandboxUpstream } from './upstream.ts';
