// A task into the body that a provider of embeddings or rankings takes (decisions 4.4, 4.7.2 `embed_rerank`).
import { type JsonObject, ServiceError } from '../../../kernel/index.ts';
import type { EncodeOptions, Target, UpstreamRequest } from '../../canonical/contract.ts';
import type { CanonicalRequest, EmbedTask, Loss, RerankTask } from '../../canonical/types.ts';
import { lossesOf } from './losses.ts';
import { textOfTokens } from './tokens.ts';
import { inputTypeOn, wireOf } from './wires.ts';

/** A body: what was asked, which nothing may replace, and what `svc.provider_options` may. */
interface Parts {
  readonly path: string;
  readonly content: JsonObject;
  readonly options: JsonObject;
}

/**
 * The request for `target`.
 * @throws ServiceError unsupported_parameter where its content cannot be carried, even when `svc.compat` is `drop`: an
 * embedding of other content, or of another length, would be a wrong answer that nobody sees.
 */
export function encodeTask(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const { task } = request;
  if (task === undefined) throw new Error('a request without a task cannot be embedded or ranked');
  refuseLosses(lossesOf(request, target));
  const parts =
    task.kind === 'embed' ? embedParts(request, task, target, options) : rerankParts(task, target);
  const body = { ...parts.options, ...options.extra, ...parts.content };
  return { path: parts.path, headers: [], body: Buffer.from(JSON.stringify(body)) };
}

function refuseLosses(losses: readonly Loss[]): void {
  const loss = losses.find((item) => item.class === 'content');
  if (loss !== undefined)
    throw new ServiceError('unsupported_parameter', loss.message, { param: loss.param });
}

function embedParts(
  request: CanonicalRequest,
  task: EmbedTask,
  target: Target,
  options: EncodeOptions,
): Parts {
  const model = target.upstream_model;
  const input_type = inputTypeOn(target, task.input_type);
  // Of the same dialect they are this wire's own fields; elsewhere they were losses.
  const ext = request.dialect === 'embeddings' ? request.ext : undefined;
  switch (wireOf(target).name) {
    case 'openai':
      return {
        path: '/embeddings',
        content: { model, input: task.single ? task.input[0] : task.input, ...sized('dimensions', task) },
        options: {
          ...(task.encoding === 'base64' && { encoding_format: 'base64' }),
          ...(input_type !== null && { input_type }),
          ...(options.user !== null && { user: options.user }),
          ...ext,
        },
      };
    case 'jina':
      return {
        path: '/embeddings',
        content: { model, input: textsOf(task, target), ...sized('dimensions', task) },
        options: {
          ...(input_type !== null && { task: input_type }),
          ...ext,
        },
      };
    case 'voyage':
      return {
        path: '/embeddings',
        content: { model, input: textsOf(task, target), ...sized('output_dimension', task) },
        options: {
          // Its default cuts a text that is too long without a word.
          truncation: false,
          ...(task.encoding === 'base64' && { encoding_format: 'base64' }),
          ...(input_type !== null && { input_type }),
          ...ext,
        },
      };
    case 'cohere':
      return {
        path: '/embed',
        content: {
          ...{ model, texts: textsOf(task, target), embedding_types: ['float'] },
          ...sized('output_dimension', task),
        },
        options: {
          // Required by its newer models; a text that is not said to be a query is one to be found.
          input_type: input_type ?? 'search_document',
          truncate: 'NONE',
        },
      };
    case 'gemini':
      return geminiParts(task, target, input_type);
  }
}

/**
 * The length of the vectors under the wire's `name`; no option may change it: vectors of another length are refused
 * when they come, and then the provider is paid by us alone.
 */
function sized(name: string, { dimensions }: EmbedTask): JsonObject {
  return dimensions === undefined ? {} : { [name]: dimensions };
}

function geminiParts(task: EmbedTask, target: Target, input_type: string | null): Parts {
  const model = `models/${target.upstream_model.replace(/^models\//, '')}`;
  const requests = textsOf(task, target).map((text) => ({
    model,
    content: { parts: [{ text }] },
    ...(input_type !== null && { taskType: input_type }),
    ...(task.dimensions !== undefined && { outputDimensionality: task.dimensions }),
  }));
  return { path: `/${model}:batchEmbedContents`, content: { requests }, options: {} };
}

function textsOf(task: EmbedTask, { tokenizer }: Target): string[] {
  return task.input.map((item, i) => {
    if (typeof item === 'string') return item;
    const param = task.single ? 'input' : `input[${i}]`;
    return textOfTokens(item, tokenizer as string, param);
  });
}

function rerankParts(task: RerankTask, target: Target): Parts {
  const { query, documents, top_n } = task;
  const content = { model: target.upstream_model, query, documents };
  // The texts are the caller's own: they are put back here and need not travel twice.
  switch (wireOf(target).name) {
    case 'voyage':
      return { path: '/rerank', content: { ...content, top_k: top_n }, options: { truncation: false } };
    case 'cohere':
      return { path: '/rerank', content: { ...content, top_n }, options: {} };
    default:
      return { path: '/rerank', content: { ...content, top_n, return_documents: false }, options: {} };
  }
}
