// The chapters of the document, in its order.

const tags = {
  inference: 'Calls to models, in the formats of well-known clients and in one of our own.',
  models: 'The catalog: models, what they can do, what they cost and where they run.',
  providers: 'Who serves the models, and what they do with data; without a key.',
  rankings: 'Which apps and models are used most; without a key.',
  apps: 'What your calls name in `svc.app`, and what of it everybody sees.',
  keys: 'API keys of your programs: what they may do, spend and how fast.',
  projects: 'Projects, which group keys and give them a common budget.',
  orgs: 'Organizations: their data and their data policy.',
  members: 'People of an organization.',
  access_requests: 'Asking for an account without an invitation, and the link of an approval.',
  signup: 'Whether sign-up is by invitation, and the waitlist.',
  invitations: 'Inviting people into an organization, and accepting.',
  reseller:
    'What a reseller does for its customers: who they are, what they pay, and what its people may do.',
  storefront: 'What a reseller shows its customers in place of us, by host; without a key.',
  audit: 'The audit log: who did what, and when.',
  credits: 'The prepaid balance, its ledger, and top-ups.',
  pricing: 'What credits and plans cost, and the exchange rates of the day; without a key.',
  plans: 'What each plan costs a month, and what it allows.',
  invoices: 'Tax invoices, receipts and credit notes.',
  requests: 'Calls that were made: what each was, how it went, what it cost.',
  generation: 'The record of one call, by its id.',
  usage: 'Sums over calls.',
  limits: 'What plan and keys allow, and what is left of it.',
  legal: 'Legal documents and who accepted them, sub-processors, and what data protection law asks for.',
  announcements: 'What the service has to say.',
  tickets: 'What you write to support, and what is answered.',
  policies: 'Routing policies: where calls may go and which endpoint is taken first.',
  redaction: 'Shows what redaction would remove from a text.',
  byok: 'Your own provider keys, with which calls are billed to your account at the provider.',
  privacy: 'Erasure and export of end users.',
  evals: 'Suites of cases with graders, and runs of them over models within a budget.',
  webhooks: 'Addresses that events are sent to, and the log of deliveries.',
  sso: 'Single sign-on of an organization: its identity provider and its mail domains.',
  scim: 'The directory of an organization: tokens, and the log of what it asked.',
  auth: 'Sign-in of people and their sessions. Programs use keys.',
} as const;

type Tag = keyof typeof tags;

/** The chapter of an operation, from its name. @throws Error (a defect) for one without a chapter. */
export function tagOf(name: string): Tag {
  const first = name.split('.')[0] as string;
  const tag = first === 'policy' ? 'redaction' : first;
  if (!Object.hasOwn(tags, tag)) throw new Error(`${name} has no chapter in the document`);
  return tag as Tag;
}

/** Names that are no plain word with a capital. */
const titles: Readonly<Partial<Record<Tag, string>>> = {
  orgs: 'Organizations',
  audit: 'Audit log',
  byok: 'Provider keys',
  evals: 'Evaluations',
  sso: 'Single sign-on',
  auth: 'Sign-in',
};

/** The chapters with what each holds; readers see the title, programs the name. */
export const tagList = Object.entries(tags).map(([name, description]) => {
  const title = titles[name as Tag] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return { name, 'x-displayName': title, description };
});
