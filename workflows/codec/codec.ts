// What workflows are about is encrypted on its way to Temporal and back: arguments, results, memos, summaries, answers to
// queries, and messages of failures. A worker reads what is encrypted and what is not, whatever it writes.
import { fileURLToPath } from 'node:url';
import type { RootKeyRing } from '@svc/core/kernel/index.ts';
import {
  isSealedPayload,
  openPayload,
  type PayloadText,
  sealPayload,
} from '@svc/core/workflow-starts/index.ts';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';

function textOf({ metadata, data }: Payload): PayloadText {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(
      entries.map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
    ),
    ...(data ? { data: Buffer.from(data).toString('base64') } : {}),
  };
}

function payloadOf({ metadata, data }: PayloadText): Payload {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, 'base64')])),
    ...(data === undefined ? {} : { data: Buffer.from(data, 'base64') }),
  };
}

/** A codec over `root_key` that encrypts when `encrypt` says so, and opens either way. */
function codecOf(root_key: RootKeyRing, encrypt: boolean): PayloadCodec {
  return {
    async encode(payloads) {
      return encrypt
        ? payloads.map((payload) => payloadOf(sealPayload(root_key, textOf(payload))))
        : payloads;
    },
    async decode(payloads) {
      return payloads.map((payload) => {
        const text = textOf(payload);
        return isSealedPayload(text) ? payloadOf(openPayload(root_key, text)) : payload;
      });
    },
  };
}

/** The module that has messages of failures go through the codec too; it is part of the bundle. */
const FAILURES = fileURLToPath(new URL('failures.ts', import.meta.url));

/** What worker and relay convert with. */
export function converterOf({
  root_key,
  encrypt,
}: {
  root_key: RootKeyRing;
  encrypt: boolean;
}): DataConverter {
  const codecs = { payloadCodecs: [codecOf(root_key, encrypt)] };
  return encrypt ? { ...codecs, failureConverterPath: FAILURES } : codecs;
}
