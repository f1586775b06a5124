// In which name a reseller sells to its customers, over REST (docs/resellers/invoices.md).
import { type Static, Type } from 'typebox';
import { EmailIn } from '../../identity/index.ts';
import { findIdentity, type SellerIdentity, setIdentity, stateName } from '../../invoices/index.ts';
import { idOf, invalid, lineOf, named, notFound, nullable, operation } from '../../kernel/index.ts';
import { emailKey } from '../../mail/index.ts';
import { holders, resellerCaller } from '../audience.ts';

const LINES_MAX = 6;
/** Service accounting code of online information and data access, as the platform's own. */
const SAC = '998315';

export const InvoicingView = named(
  'ResellerInvoicing',
  Type.Object({
    reseller_id: idOf('org'),
    legal_name: Type.String(),
    address: Type.Array(Type.String()),
    state_code: Type.String({ description: 'two digits of GST' }),
    state_name: Type.String(),
    gstin: nullable(Type.String({ description: 'null: not registered, documents are receipts without tax' })),
    pan: nullable(Type.String()),
    lut: nullable(Type.String({ description: 'letter of undertaking: exports without payment of tax' })),
    sac: Type.String(),
    email: nullable(Type.String()),
    website: nullable(Type.String()),
    series: Type.String({ description: 'prefix of numbers, as PFX in PFX/26-27/00001' }),
    enabled: Type.Boolean({ description: 'whether customers are sold to in this name' }),
  }),
);
type InvoicingView = Static<typeof InvoicingView>;

const example: InvoicingView = {
  ...{ reseller_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', legal_name: 'Northwind Cloud Private Limited' },
  ...{ address: ['3 Example Road', 'Bengaluru 560003'], state_code: '29', state_name: 'Karnataka' },
  ...{ gstin: '29AABCU9603R1ZJ', pan: 'AABCU9603R', lut: null, sac: SAC, email: 'gst@northwind.example' },
  ...{ website: 'https://northwind.example', series: 'NWC', enabled: true },
};

function viewIdentity({ org_id, address, ...rest }: SellerIdentity): InvoicingView {
  return {
    reseller_id: org_id,
    ...rest,
    address: [...address],
    state_name: stateName(rest.state_code) ?? rest.state_code,
  };
}

const website = /^https:\/\/[^\s/?#@]+\.[^\s/?#@]+(?:[/?#]\S*)?$/;

/** @throws ServiceError invalid_request for what could not be printed as a way to reach the reseller. */
function checkContact(email: string | null, site: string | null): void {
  if (email !== null && emailKey(email) === null)
    throw invalid('email', 'format', 'This is not an e-mail address.');
  if (site !== null && !website.test(site))
    throw invalid('website', 'format', 'The address of a website begins with https://.');
}

export const getInvoicingOperation = operation({
  name: 'reseller.invoicing.get',
  method: 'GET',
  path: '/v1/reseller/invoicing',
  summary: 'Read in which name the reseller sells to its customers',
  audience: holders('reseller.read'),
  input: Type.Object({}),
  output: InvoicingView,
  errors: ['grant_required'],
  example,
  async run(context) {
    const found = await findIdentity(context.db, resellerCaller(context).org_id);
    if (found === null) throw notFound();
    return viewIdentity(found);
  },
});

export const setInvoicingOperation = operation({
  name: 'reseller.invoicing.set',
  method: 'PUT',
  path: '/v1/reseller/invoicing',
  summary: 'Say in which name the reseller sells to its customers, and how its documents are numbered',
  audience: holders('reseller.write'),
  input: Type.Object({
    legal_name: lineOf(200),
    address: Type.Array(lineOf(100), { minItems: 1, maxItems: LINES_MAX }),
    state_code: Type.String({ pattern: '^[0-9]{2}$', description: 'two digits of GST' }),
    gstin: Type.Optional(nullable(lineOf(15, 0))),
    pan: Type.Optional(
      nullable(Type.String({ pattern: '^[A-Z]{5}[0-9]{4}[A-Z]$', description: 'follows from a GSTIN' })),
    ),
    lut: Type.Optional(nullable(lineOf(40))),
    sac: Type.Optional(Type.String({ pattern: '^[0-9]{6}$', description: `${SAC} unless given` })),
    email: Type.Optional(nullable(EmailIn)),
    website: Type.Optional(nullable(lineOf(200))),
    series: Type.String({
      pattern: '^[A-Z][A-Z0-9]{0,2}$',
      description: 'one to three letters and digits, so that a number has at most sixteen characters',
    }),
    enabled: Type.Boolean(),
  }),
  output: InvoicingView,
  errors: ['grant_required', 'invalid_gstin', 'already_exists', 'in_use', 'csrf_failed'],
  request: {
    ...{ legal_name: example.legal_name, address: example.address, state_code: example.state_code },
    ...{ gstin: example.gstin, email: example.email, website: example.website, series: example.series },
    enabled: true,
  },
  example,
  async run(context, input) {
    const { org_id } = resellerCaller(context);
    const { gstin = null, pan = null, lut = null, sac = SAC, email = null, website = null, ...rest } = input;
    checkContact(email, website);
    return viewIdentity(
      await setIdentity(context, { org_id, ...rest, gstin, pan, lut, sac, email, website }),
    );
  },
});

export const invoicingOperations = [getInvoicingOperation, setInvoicingOperation] as const;
