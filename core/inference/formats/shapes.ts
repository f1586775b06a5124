// The requests and answers of every model route, by path, for the OpenAPI document.
import type { CallShape } from '../caller/shapes.ts';
import { messagesCountShape, messagesShape } from './anthropic-messages/caller/shapes.ts';
import { dryRunShape, generateCountShape, generateShape } from './native/caller/shapes.ts';
import { embedShape, rerankShape } from './native/caller/tasks/shapes.ts';
import { chatShape } from './openai-chat/caller/shapes.ts';
import { completionsShape } from './openai-completions/caller/shapes.ts';
import { embeddingsShape } from './openai-embeddings/caller/shapes.ts';
import { responsesCountShape, responsesShape } from './openai-responses/caller/shapes.ts';

export const callShapes: ReadonlyMap<string, CallShape> = new Map([
  ['/v1/chat/completions', chatShape],
  ['/v1/responses', responsesShape],
  ['/v1/responses/input_tokens', responsesCountShape],
  ['/v1/messages', messagesShape],
  ['/v1/messages/count_tokens', messagesCountShape],
  ['/v1/completions', completionsShape],
  ['/v1/embeddings', embeddingsShape],
  ['/v1/svc/generate', generateShape],
  ['/v1/svc/count_tokens', generateCountShape],
  ['/v1/svc/dry_run', dryRunShape],
  ['/v1/svc/embed', embedShape],
  ['/v1/svc/rerank', rerankShape],
]);
