// A simulated invoice registration portal: registers documents in schema 1.1, knows each number once, and misbehaves on
// request. Written from the portal's published words, with no code of the product.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const DAY_MS = 86_400_000;
const IST_MS = 5.5 * 3_600_000;
type Body = Readonly<Record<string, unknown>>;

export interface PortalKnobs {
  /** Of a hundred calls: nothing happens and the answer is 503. */
  readonly down?: number;
  /** Of a hundred calls: the portal does what was asked, and the connection breaks before the answer. */
  readonly lost?: number;
  /** Of a hundred registrations: the answer lacks its QR code. */
  readonly blank?: number;
  /** Of a hundred registrations: what is registered has another total, and the answer is lost. */
  readonly altered?: number;
  /** How a duplicate names what is there. */
  readonly duplicates?: 'list' | 'object' | 'neither' | 'in turn';
  /** The next registrations are refused with this error; null: none. */
  readonly refuse?: { readonly code: string; readonly message: string } | null;
  /** The portal's clock. */
  readonly now?: () => number;
}

interface Registered {
  readonly irn: string;
  readonly ack_no: number;
  readonly at_ms: number;
  /** What was sent last under this number, and what the portal has of it. */
  readonly document: Body;
}

export interface PortalSim {
  readonly url: string;
  /** Its public key, as PEM. */
  readonly public_key: string;
  /** Registered documents by type and number: `INV INV/26-27/00001`. */
  readonly documents: ReadonlyMap<string, Registered>;
  /** `METHOD /path` of every call. */
  readonly calls: readonly string[];
  /** Numbers whose document was registered with another total. */
  readonly altered: ReadonlySet<string>;
  turn(knobs: PortalKnobs): void;
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly code: string;
  readonly info: unknown;

  constructor(code: string, message: string, info: unknown = null) {
    super(message);
    this.code = code;
    this.info = info;
  }
}

const part = (body: Body, name: string) => (body[name] ?? {}) as Readonly<Record<string, unknown>>;
const paise = (value: unknown) => Math.round(Number(value) * 100);

/** A generator of numbers from 0 to 1 that gives the same ones for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** 26-27 of a day like 21/11/2026, as the portal writes it: 2026-27. */
function yearOf(day: string): string {
  const [, month, year] = day.split('/').map(Number) as [number, number, number];
  const first = month >= 4 ? year : year - 1;
  return `${first}-${String((first + 1) % 100).padStart(2, '0')}`;
}

const FORMS = {
  gstin: /^([0-9]{2}[0-9A-Z]{13}|URP)$/,
  number: /^[a-zA-Z1-9][a-zA-Z0-9/-]{0,15}$/,
  day: /^\d{2}\/\d{2}\/\d{4}$/,
  supply: /^(B2B|SEZWP|SEZWOP|EXPWP|EXPWOP)$/,
} as const;

/** What the portal checks of a document before it registers it. */
function check(body: Body): void {
  const [trade, doc, values] = [part(body, 'TranDtls'), part(body, 'DocDtls'), part(body, 'ValDtls')];
  const [seller, buyer] = [part(body, 'SellerDtls'), part(body, 'BuyerDtls')];
  const forms: readonly [string, RegExp, unknown][] = [
    ['TranDtls.SupTyp', FORMS.supply, trade['SupTyp']],
    ['DocDtls.Typ', /^(INV|CRN)$/, doc['Typ']],
    ['DocDtls.No', FORMS.number, doc['No']],
    ['DocDtls.Dt', FORMS.day, doc['Dt']],
    ['SellerDtls.Gstin', FORMS.gstin, seller['Gstin']],
    ['BuyerDtls.Gstin', FORMS.gstin, buyer['Gstin']],
    ['SellerDtls.Pin', /^[1-9]\d{5}$/, String(seller['Pin'])],
  ];
  if (body['Version'] !== '1.1') throw new Refusal('5002', 'Version');
  for (const [name, form, value] of forms) {
    if (typeof value !== 'string' || !form.test(value)) throw new Refusal('5002', `${name} is invalid`);
  }
  if (trade['SupTyp'] === 'B2B' && buyer['Gstin'] === 'URP') throw new Refusal('2211', 'B2B needs a GSTIN');
  const sums = ['AssVal', 'CgstVal', 'SgstVal', 'IgstVal'].reduce(
    (sum, name) => sum + paise(values[name]),
    0,
  );
  if (sums !== paise(values['TotInvVal'])) throw new Refusal('2189', 'Invalid total invoice value');
  const within = seller['Stcd'] === buyer['Pos'] && trade['SupTyp'] === 'B2B';
  if (within && paise(values['IgstVal']) > 0) throw new Refusal('2172', 'IGST on an intra-state supply');
  if (doc['Typ'] === 'CRN' && part(body, 'RefDtls')['PrecDocDtls'] === undefined) {
    throw new Refusal('2173', 'A credit note names its document');
  }
}

class Portal {
  readonly documents = new Map<string, Registered>();
  readonly altered = new Set<string>();
  readonly calls: string[] = [];
  knobs: PortalKnobs = {};
  readonly pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  private readonly random: () => number;
  private duplicates = 0;

  constructor(seed: number) {
    this.random = seeded(seed);
  }

  /** Whether a fault that happens so often of a hundred times happens now. */
  private strikes(percent = 0): boolean {
    return this.random() * 100 < percent;
  }

  private nowMs(): number {
    return this.knobs.now?.() ?? Date.now();
  }

  private duplicate({ irn, ack_no, at_ms }: Registered): Refusal {
    const desc = { AckNo: ack_no, AckDt: this.stamp(at_ms), Irn: irn };
    const info = { InfCd: 'DUPIRN', Desc: desc };
    const { duplicates = 'list' } = this.knobs;
    const forms = { list: [info], object: info, neither: null } as const;
    const turn = (['list', 'object', 'neither'] as const)[this.duplicates++ % 3] ?? 'list';
    return new Refusal('2150', 'Duplicate IRN', forms[duplicates === 'in turn' ? turn : duplicates]);
  }

  private stamp(at_ms: number): string {
    return new Date(at_ms + IST_MS).toISOString().slice(0, 19).replace('T', ' ');
  }

  private signed(data: object): string {
    const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = text({ data: JSON.stringify(data), iss: 'NIC' });
    const said = `${text({ alg: 'RS256', kid: 'portal', typ: 'JWT' })}.${payload}`;
    const proof = sign('RSA-SHA256', Buffer.from(said), this.pair.privateKey);
    return `${said}.${proof.toString('base64url')}`;
  }

  private answer({ irn, ack_no, at_ms, document }: Registered): object {
    const [doc, values] = [part(document, 'DocDtls'), part(document, 'ValDtls')];
    const stamp = this.stamp(at_ms);
    const code = {
      SellerGstin: part(document, 'SellerDtls')['Gstin'],
      BuyerGstin: part(document, 'BuyerDtls')['Gstin'],
      ...{ DocNo: doc['No'], DocTyp: doc['Typ'], DocDt: doc['Dt'], TotInvVal: values['TotInvVal'] },
      ...{ ItemCnt: 1, MainHsnCode: '998315', Irn: irn, IrnDt: stamp },
    };
    const whole = { AckNo: ack_no, AckDt: stamp, Irn: irn, ...document };
    const SignedQRCode = this.signed(code);
    return {
      AckNo: ack_no,
      AckDt: stamp,
      Irn: irn,
      SignedInvoice: this.signed(whole),
      SignedQRCode,
      Status: 'ACT',
    };
  }

  private register(body: Body): { data: object; is_lost: boolean } {
    const { refuse } = this.knobs;
    if (refuse) throw new Refusal(refuse.code, refuse.message);
    check(body);
    const doc = part(body, 'DocDtls');
    const key = `${doc['Typ']} ${doc['No']}`;
    const known = this.documents.get(key);
    if (known !== undefined) throw this.duplicate(known);
    const gstin = part(body, 'SellerDtls')['Gstin'];
    const named = `${gstin}${yearOf(doc['Dt'] as string)}${doc['Typ']}${doc['No']}`;
    const irn = createHash('sha256').update(named).digest('hex');
    const is_altered = this.strikes(this.knobs.altered);
    const values = part(body, 'ValDtls');
    const document = is_altered
      ? { ...body, ValDtls: { ...values, TotInvVal: (paise(values['TotInvVal']) + 100) / 100 } }
      : body;
    const registered = {
      ...{ irn, document, at_ms: this.nowMs() },
      ack_no: 112_610_000_000_000 + this.documents.size,
    };
    this.documents.set(key, registered);
    if (is_altered) this.altered.add(doc['No'] as string);
    const data = this.answer(registered);
    return {
      data: this.strikes(this.knobs.blank) ? { ...data, SignedQRCode: '' } : data,
      is_lost: is_altered,
    };
  }

  private show(registered: Registered | undefined): object {
    if (registered === undefined) throw new Refusal('2148', 'Requested IRN data is not available');
    if (this.nowMs() - registered.at_ms > 2 * DAY_MS) {
      throw new Refusal('2283', 'IRN details cannot be provided as it is generated more than 2 days prior');
    }
    return this.answer(registered);
  }

  private call(method: string, url: URL, text: string): { data: object; is_lost: boolean } {
    if (method === 'POST' && url.pathname === '/Invoice') return this.register(JSON.parse(text) as Body);
    if (url.pathname === '/Invoice/irnbydocdetails') {
      const key = `${url.searchParams.get('doctype')} ${url.searchParams.get('docnum')}`;
      return { data: this.show(this.documents.get(key)), is_lost: false };
    }
    const irn = url.pathname.split('/')[3];
    return { data: this.show([...this.documents.values()].find((one) => one.irn === irn)), is_lost: false };
  }

  /** What a call is answered with; null: the connection breaks. */
  serve(method: string, url: URL, text: string): { status: number; body: object } | null {
    this.calls.push(`${method} ${url.pathname}`);
    if (this.strikes(this.knobs.down)) return { status: 503, body: {} };
    const is_cut = this.strikes(this.knobs.lost);
    try {
      const { data, is_lost } = this.call(method, url, text);
      const body = { Status: 1, ErrorDetails: null, Data: data, InfoDtls: null };
      return is_cut || is_lost ? null : { status: 200, body };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const ErrorDetails = [{ ErrorCode: error.code, ErrorMessage: error.message }];
      return is_cut
        ? null
        : { status: 200, body: { Status: 0, ErrorDetails, Data: null, InfoDtls: error.info } };
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

/** Starts a simulated portal on a port of its own; its faults follow from `seed`. */
export async function startPortalSim(
  options: { readonly seed?: number; readonly port?: number } = {},
): Promise<PortalSim> {
  const portal = new Portal(options.seed ?? 1);
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await bodyOf(request);
    const url = new URL(request.url ?? '/', 'http://portal');
    const answer = portal.serve(request.method ?? 'GET', url, text);
    if (answer === null) return void request.socket.destroy();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((done) => server.listen(options.port ?? 0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    public_key: portal.pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    documents: portal.documents,
    calls: portal.calls,
    altered: portal.altered,
    turn: (knobs) => {
      portal.knobs = { ...portal.knobs, ...knobs };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
