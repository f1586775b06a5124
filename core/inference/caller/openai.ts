// What the dialects in OpenAI's format share; each takes it over explicitly, as a whole or member by member.
import type { Dialect } from '../canonical/contract.ts';
import { chatError } from './error.ts';
import { addLimits } from './limit-headers.ts';

/** Members that control a call in any dialect; they only affect routing and are not sent on. */
export const STEERING: readonly string[] = [
  'model',
  'svc.route',
  'svc.session',
  'svc.budget',
  'svc.compat',
  'svc.data_policy',
  'svc.reasoning',
];

/** How errors and limits are written for clients of OpenAI's format. */
export const openaiAnswers = {
  error: chatError,
  status: (error) => error.status,
  addLimits,
  organization_header: null,
} as const satisfies Partial<Dialect>;

/** Members that redaction leaves unchanged in dialects of OpenAI's format. */
export const openaiSpared: readonly string[] = [...STEERING, 'user', 'safety_identifier', 'prompt_cache_key'];
