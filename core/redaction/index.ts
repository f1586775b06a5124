export type { RedactedBody } from './bytes.ts';
export { checkPatterns } from './custom.ts';
export { previewRedactionOperation, RedactionPreviewView, redactionOperations } from './operations.ts';
export { redactBody } from './pool.ts';
export { PATTERN_LENGTH_MAX, PATTERNS_MAX, type Preset, presets, type RedactionSettings } from './types.ts';
