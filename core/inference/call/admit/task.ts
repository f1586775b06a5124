// Calls for embeddings and rankings: how admission measures them, and the message when the model is of another kind.
// After planning they are treated like any other call.
import type { Catalog, ModelTask } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import {
  addText,
  countText,
  emptyPrompt,
  inputTokensBound,
  type PromptSize,
} from '../../../pricing/index.ts';
import type { Excluded, RouteFeatures } from '../../../routing/index.ts';
import { unitsBound } from '../../canonical/search-units.ts';
import { hasImages, isContent, isTokens } from '../../canonical/tasks/inputs.ts';
import type { CanonicalRequest, EmbedInput, Task } from '../../canonical/types.ts';
import { searchesOf } from '../../canonical/web-search.ts';

/** The number of token ids is known; the bound counts three bytes of ordinary text as one token. */
const BYTES_PER_TOKEN = 3;
/** Enough white space that the bound does not treat the text as dense. */
const WHITE_SHARE = 0.1;

function addInput(size: PromptSize, input: EmbedInput): void {
  size.messages++;
  if (typeof input === 'string') return addText(size, input);
  if (isContent(input)) {
    for (const part of input.content) {
      if (part.type === 'text') addText(size, part.text);
      else size.images.push({});
    }
    return;
  }
  size.text_bytes += input.length * BYTES_PER_TOKEN;
  size.white_space_bytes += Math.ceil(input.length * BYTES_PER_TOKEN * WHITE_SHARE);
}

/** Size of everything that `task` sends; the query is read again with each document. */
export function taskSize(task: Task): PromptSize {
  const size = emptyPrompt();
  if (task.kind === 'embed') {
    for (const input of task.input) addInput(size, input);
    return size;
  }
  for (const document of task.documents) {
    addInput(size, document);
    addText(size, task.query);
  }
  return size;
}

/** Bound of the longest input: each must fit the context by itself, not their sum. */
function longestTokens(task: Task): number {
  const query = task.kind === 'rerank' ? countText(task.query) : 0;
  let longest = 0;
  for (const input of task.kind === 'embed' ? task.input : task.documents) {
    const size = emptyPrompt();
    addInput(size, input);
    // Without the margin of a message: a text that exactly fills the context is not too long.
    longest = Math.max(longest, inputTokensBound({ ...size, messages: 0 }));
  }
  return longest + query;
}

/** The route features that a task determines; none for a request without a task. */
export function taskFeatures(request: CanonicalRequest): Partial<RouteFeatures> {
  const { task } = request;
  if (task === undefined) return {};
  const features = {
    ...{ task: task.kind, longest_input_tokens: longestTokens(task) },
    ...(task.kind === 'rerank' ? { search_units: unitsBound(task) } : {}),
  };
  return hasImages(task) ? { ...features, images: true, modalities_in: ['text', 'image'] } : features;
}

/**
 * No redaction pattern can match token ids. Under a data policy that redacts they are refused instead of bypassing
 * it.
 * @throws ServiceError unsupported_parameter.
 */
export function refuseUnreadable({ task, completion }: CanonicalRequest, redacts: boolean): void {
  if (!redacts) return;
  let param: string;
  if (task?.kind === 'embed') {
    const at = task.input.findIndex(isTokens);
    if (at < 0) return;
    param = task.single ? 'input' : `input[${at}]`;
  } else if (completion !== undefined && completion.tokens > 0) param = 'prompt';
  else return;
  const message = 'Token ids cannot be redacted, as the data policy of your organization asks; send text.';
  throw new ServiceError('unsupported_parameter', message, { param, details: { reason: 'redaction' } });
}

/** Search units to hold for `request`: those of a ranking, or of the web searches it may make. */
export function searchUnitsOf(request: CanonicalRequest): number {
  const { task } = request;
  return task?.kind === 'rerank' ? unitsBound(task) : searchesOf(request);
}

/** Modalities that `request` asks for, by their names in the catalog. */
export function modalitiesOut(request: CanonicalRequest): readonly string[] {
  if (request.task !== undefined) return [request.task.kind === 'embed' ? 'embedding' : 'ranking'];
  return request.output?.modalities ?? ['text'];
}

const madeBy: { readonly [K in ModelTask | 'text']: string } = {
  embed: 'makes embeddings; call it with POST /v1/embeddings or /v1/svc/embed',
  rerank: 'ranks documents; call it with POST /v1/svc/rerank',
  text: 'generates text; embeddings and rankings need a model that makes them',
};

/** A clearer `refusal` when no endpoint is left because the model is of another kind than the request. */
export function clearer(
  refusal: ServiceError,
  request: CanonicalRequest,
  facts: { catalog: Catalog; environment: string },
): ServiceError {
  const excluded = refusal.beside['excluded_by'] as readonly Excluded[] | undefined;
  if (refusal.code !== 'no_endpoint_available' || refusal.status !== 400 || excluded === undefined)
    return refusal;
  const { catalog, environment } = facts;
  const models = environment === 'test' ? catalog.sandbox : catalog.models;
  const task = models.get(request.model)?.endpoints[0]?.task;
  if (task === request.task?.kind || !excluded.some(({ reason }) => reason === 'capability')) return refusal;
  const { details, beside } = refusal;
  const message = `${request.model} ${madeBy[task ?? 'text']}.`;
  return new ServiceError('no_endpoint_available', message, { param: 'model', details, beside });
}
