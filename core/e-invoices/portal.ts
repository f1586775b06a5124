// The invoice registration portal over HTTP, in the words of its API (documents in schema 1.1; error 2150 is a duplicate,
// 2283 a document that is too old to be shown again). It is asked through a provider that signs in there for us.

import { DEMO_SUPPLIER, type EInvoice } from '../invoices/index.ts';
import { isObject } from '../kernel/index.ts';
import { type PortalAnswer, type PortalKeys, readAnswer } from './answer.ts';

/** A registration asks twice at most, within the half minute of its step. */
const TIMEOUT_MS = 12_000;
const BYTES_MAX = 262_144;
const DUPLICATE = '2150';
/** Statuses that say nothing about the document: who asks, how often, or how the portal is. */
const isPassing = (status: number) =>
  status === 401 || status === 403 || status === 408 || status === 429 || status >= 500;

export interface Portal {
  /** Registers a document, or finds that it is registered. @throws PortalError when the portal gives no usable answer. */
  register(document: EInvoice): Promise<PortalAnswer>;
}

/** The portal could not be asked, or gave no answer that can be used; the document may be registered nevertheless. */
export class PortalError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PortalError';
  }
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask(url: string, init: RequestInit): Promise<Reply> {
  let text: string;
  let status: number;
  try {
    const reply = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    status = reply.status;
    text = await reply.text();
  } catch (error) {
    throw new PortalError(`no answer (${error instanceof Error ? error.name : 'unknown'})`);
  }
  if (isPassing(status)) throw new PortalError(`the portal answered ${status}`);
  if (text.length > BYTES_MAX) throw new PortalError('the answer is too long');
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return { status, body };
  } catch {
    // Not JSON: a page of a proxy.
  }
  throw new PortalError(`the portal answered ${status} without JSON`);
}

/** The portal at `url`; `token` goes with each call where there is one, `keys` prove its answers. */
export function openPortal(options: {
  readonly url: string;
  readonly token: string | null;
  readonly keys: PortalKeys;
}): Portal {
  const { url, token, keys } = options;
  const headersOf = (document: EInvoice) => ({
    accept: 'application/json',
    gstin: document.SellerDtls.Gstin,
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  });

  const read = (path: string, document: EInvoice) => ask(`${url}${path}`, { headers: headersOf(document) });

  /** A registered document: by the number that the portal has named, else by what the document is called. */
  const found = (irn: string | null, document: EInvoice) => {
    if (irn !== null) return read(`/Invoice/irn/${encodeURIComponent(irn)}`, document);
    const { Typ, No, Dt } = document.DocDtls;
    const query = new URLSearchParams({ doctype: Typ, docnum: No, docdate: Dt });
    return read(`/Invoice/irnbydocdetails?${query}`, document);
  };

  return {
    async register(document) {
      const sent = await ask(`${url}/Invoice`, {
        method: 'POST',
        headers: { ...headersOf(document), 'content-type': 'application/json' },
        body: JSON.stringify(document),
      });
      const first = readAnswer(sent.body, document, keys);
      if (first.kind !== 'refused' || first.code !== DUPLICATE) return usable(first);
      // Registered before, perhaps by a call whose answer was lost: what is there decides.
      const { body } = await found(first.irn, document);
      const second = readAnswer(body, document, keys);
      if (second.kind === 'refused' && second.code === 'signature') return second;
      if (second.kind !== 'refused') return usable(second);
      return { kind: 'hidden', irn: first.irn, code: second.code, message: second.message };
    },
  };
}

/**
 * Keeps what is simulated apart: documents of the demo supplier, which is nobody, go to `demo` and to no other portal, and
 * `demo` gets no other document, whatever else is set. Where the one is missing its documents wait.
 */
export function demoApart(demo: Portal | null, real: Portal | null): Portal {
  return {
    async register(document) {
      const is_demo = document.SellerDtls.Gstin === DEMO_SUPPLIER.gstin;
      const portal = is_demo ? demo : real;
      if (portal !== null) return portal.register(document);
      throw new PortalError(`SVC_EINVOICE_${is_demo ? 'DEMO_' : ''}URL is not set`);
    },
  };
}

function usable(answer: PortalAnswer): PortalAnswer {
  if (answer.kind === 'unusable') throw new PortalError(`an answer that cannot be used: ${answer.reason}`);
  return answer;
}
