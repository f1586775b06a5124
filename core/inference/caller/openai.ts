// What the dialects of OpenAI's form have in common with ours: each says so itself, member by member or all at once.
import type { Dialect } from '../canonical/contract.ts';
import { chatError } from './error.ts';
import { addLimits } from './limit-headers.ts';

/** Members that steer a call in any dialect; what they say goes no further than routing. */
export const STEERING: readonly string[] = [
  'model',
  'svc.route',
  'svc.session',
  'svc.compat',
  'svc.data_policy',
  'svc.reasoning',
];

/** How refusals and limits are written for clients of OpenAI's form. */
export const openaiAnswers = {
  error: chatError,
  status: (error) => error.status,
  addLimits,
  organization_header: null,
} as const satisfies Partial<Dialect>;

/** Members that a dialect of OpenAI's form spares redaction. */
export const openaiSpared: readonly string[] = [...STEERING, 'user', 'safety_identifier', 'prompt_cache_key'];
