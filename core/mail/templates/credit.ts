// Mails about what is left: balance, expiry, plan, budgets and limits.
import { type Static, Type } from 'typebox';
import { lineOf, nullable, TimeIn } from '../../kernel/index.ts';
import { action, type Content, dateText, facts, text, timeText } from '../content.ts';
import { DAY, DAYS_3, template } from './define.ts';

const org = lineOf(200);
const slug = lineOf(40);
const money = lineOf(40);
const plan = lineOf(40);
const billing = (name: string) => `because you look after the money of ${name}`;
const credits = (slug: string) => `/${slug}/live/credits`;
const topUp = (slug: string) => action('Add credits', credits(slug));

const low_balance = template({
  data: Type.Object({ org, slug, available: money, threshold: money }),
  sample: { org: 'Acme', slug: 'acme', available: '$4.20', threshold: '$5.00' },
  lives_hours: DAY,
  duty: 'courtesy',
  content: (d) => ({
    subject: `${d.org} has ${d.available} of credits left`,
    preview: 'Calls stop when nothing is left.',
    title: `${d.available} of credits left`,
    blocks: [
      text(`The balance of ${d.org} fell below ${d.threshold}. When nothing is left, calls are refused.`),
      topUp(d.slug),
    ],
    reason: billing(d.org),
  }),
});

const credits_exhausted = template({
  data: Type.Object({ org, slug, available: money }),
  sample: { org: 'Acme', slug: 'acme', available: '$0.00' },
  lives_hours: DAY,
  duty: 'courtesy',
  content: (d) => ({
    subject: `Calls of ${d.org} are refused: no credits left`,
    preview: 'Calls go on as soon as credits are added.',
    title: 'No credits left',
    blocks: [
      text(
        `A call of ${d.org} was refused, because what is left (${d.available}) does not cover it. Calls go on as soon as credits are added.`,
      ),
      topUp(d.slug),
    ],
    reason: billing(d.org),
  }),
});

const credits_expiring = template({
  data: Type.Object({ org, slug, amount: money, expires_at: TimeIn }),
  sample: { org: 'Acme', slug: 'acme', amount: '$12.00', expires_at: '2026-12-05T00:00:00.000Z' },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `${d.amount} of credits expire on ${dateText(d.expires_at)}`,
    preview: 'What is not used until then is lost.',
    title: `${d.amount} of credits expire soon`,
    blocks: [
      text(
        `They were paid for and belong to ${d.org}. Credits that expire first are used first, so calls use these before others.`,
      ),
      facts({ Amount: d.amount, Expire: timeText(d.expires_at) }),
      action('See your credits', credits(d.slug)),
    ],
    reason: billing(d.org),
  }),
});

const plan_grace = template({
  data: Type.Object({ org, slug, plan, fee: money, available: money, ends_at: TimeIn, falls_to: plan }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    plan: 'team',
    fee: '$49.00',
    available: '$12.00',
    ends_at: '2026-12-04T00:00:00.000Z',
    falls_to: 'payg',
  },
  lives_hours: DAY,
  duty: 'money',
  content: (d) => ({
    subject: `The fee of plan ${d.plan} could not be taken`,
    preview: `Add credits before ${dateText(d.ends_at)} to keep the plan.`,
    title: `The fee of plan ${d.plan} could not be taken`,
    blocks: [
      text(
        `The fee is taken from credits, and ${d.org} has too few. If they do not cover it in time, the plan becomes ${d.falls_to}, with its lower limits.`,
      ),
      facts({ Fee: d.fee, Available: d.available, 'In time': `before ${timeText(d.ends_at)}` }),
      topUp(d.slug),
    ],
    reason: billing(d.org),
  }),
});

/** A notice of weeks is worth sending for days. */
const DAYS_14 = 336;

const plan_fee_rises = template({
  data: Type.Object({
    ...{ org, slug, plan, fee: money, previous: money, included: money },
    begins_at: TimeIn,
  }),
  sample: {
    ...{ org: 'Acme', slug: 'acme', plan: 'Team', fee: '$59.00', previous: '$49.00', included: '$55.00' },
    begins_at: '2027-01-01T00:00:00.000Z',
  },
  lives_hours: DAYS_14,
  duty: 'money',
  content: (d) => ({
    subject: `Plan ${d.plan} costs ${d.fee} a month from ${dateText(d.begins_at)}`,
    preview: `Until then ${d.org} pays ${d.previous}, as before.`,
    title: `Plan ${d.plan} costs ${d.fee} a month from ${dateText(d.begins_at)}`,
    blocks: [
      text(
        `${d.org} is on this plan and pays ${d.previous} a month. The new fee is taken from credits for the first time when that month begins, and nothing changes before.`,
      ),
      facts({
        ...{ Plan: d.plan, 'Fee per month': d.fee, Before: d.previous },
        ...{ 'Credit included': d.included, From: dateText(d.begins_at) },
      }),
      text('To pay another fee, choose another plan before that day.'),
      action('See your plan', `/${d.slug}/live/credits?view=plan`),
    ],
    reason: billing(d.org),
  }),
});

const plan_changed = template({
  data: Type.Object({ org, slug, plan, previous: plan, fee: money }),
  sample: { org: 'Acme', slug: 'acme', plan: 'payg', previous: 'team', fee: '$0.00' },
  lives_hours: DAYS_3,
  duty: 'money',
  content: (d) => ({
    subject: `${d.org} is on plan ${d.plan}`,
    preview: `Before: ${d.previous}.`,
    title: `${d.org} is on plan ${d.plan}`,
    blocks: [
      text('The limits of the plan apply from now on.'),
      facts({ Plan: d.plan, Before: d.previous, 'Fee per month': d.fee }),
      action('See your limits', `/${d.slug}/live/budgets`),
    ],
    reason: billing(d.org),
  }),
});

const Budget = {
  org,
  slug,
  scope: Type.Union([Type.Literal('key'), Type.Literal('project')]),
  name: lineOf(120),
  spend: money,
  budget: money,
  hard: Type.Boolean(),
};
const budgetSample = {
  org: 'Acme',
  slug: 'acme',
  scope: 'project',
  name: 'search-prod',
  hard: true,
} as const;
const watching = (name: string) => `because you look after the budgets of ${name}`;

function windowOf(scope: 'key' | 'project'): string {
  return scope === 'key' ? 'daily budget' : 'monthly budget';
}

const budget_threshold = template({
  data: Type.Object({
    ...Budget,
    threshold_percent: Type.Integer({ minimum: 1, maximum: 100 }),
    window_end: TimeIn,
  }),
  sample: {
    ...budgetSample,
    spend: '$410.22',
    budget: '$500.00',
    threshold_percent: 80,
    window_end: '2026-12-01T00:00:00.000Z',
  },
  lives_hours: DAY,
  duty: 'courtesy',
  content: (d) => ({
    subject: `${d.name} has used ${d.threshold_percent} % of its budget`,
    preview: `${d.spend} of ${d.budget}.`,
    title: `${d.threshold_percent} % of the ${windowOf(d.scope)} is used`,
    blocks: [
      text(
        d.hard
          ? `When the ${d.scope} ${d.name} of ${d.org} reaches its budget, its calls are refused until the budget begins anew.`
          : `The budget of the ${d.scope} ${d.name} of ${d.org} is soft: calls go on when it is used up.`,
      ),
      facts({ Spent: d.spend, Budget: d.budget, 'Begins anew': timeText(d.window_end) }),
      action('See budgets', `/${d.slug}/live/budgets`),
    ],
    reason: watching(d.org),
  }),
});

const exhausted = Type.Object({ ...Budget, resumes_at: nullable(TimeIn) });

function exhaustedText(d: Static<typeof exhausted>): Content['blocks'] {
  const effect = d.hard
    ? `Calls of the ${d.scope} ${d.name} of ${d.org} are refused until its budget begins anew, is raised, or is lifted.`
    : `The budget is soft: calls of the ${d.scope} ${d.name} of ${d.org} go on.`;
  return [
    text(effect),
    facts({
      Spent: d.spend,
      Budget: d.budget,
      'Begins anew': d.resumes_at === null ? null : timeText(d.resumes_at),
    }),
  ];
}

const budget_exhausted = template({
  data: exhausted,
  sample: { ...budgetSample, spend: '$500.00', budget: '$500.00', resumes_at: '2026-12-01T00:00:00.000Z' },
  lives_hours: DAY,
  duty: 'courtesy',
  content: (d) => ({
    subject: d.hard ? `Calls of ${d.name} are paused: budget used up` : `${d.name} has used up its budget`,
    preview: `${d.spend} of ${d.budget}.`,
    title: `The ${windowOf(d.scope)} is used up`,
    blocks: [...exhaustedText(d), action('Raise the budget', `/${d.slug}/live/budgets`)],
    reason: watching(d.org),
  }),
});

const limit_request_updated = template({
  data: Type.Object({
    org,
    slug,
    key: lineOf(120),
    status: Type.Union([Type.Literal('approved'), Type.Literal('rejected')]),
    rpm: nullable(Type.Integer()),
    tpm: nullable(Type.Integer()),
    concurrency: nullable(Type.Integer()),
    answer: Type.String({ maxLength: 500, format: 'lines' }),
  }),
  sample: {
    org: 'Acme',
    slug: 'acme',
    key: 'backend-prod',
    status: 'approved',
    rpm: 1_200,
    tpm: 4_000_000,
    concurrency: 80,
    answer: '',
  },
  lives_hours: DAYS_3,
  duty: 'courtesy',
  content: (d) => {
    const number = (n: number | null) => (n === null ? null : n.toLocaleString('en-US'));
    const limits = facts({
      'Requests per minute': number(d.rpm),
      'Tokens per minute': number(d.tpm),
      'Calls at once': number(d.concurrency),
    });
    return {
      subject: `Higher limits for ${d.key}: ${d.status}`,
      preview: d.status === 'approved' ? 'They apply from now on.' : 'The limits stay as they are.',
      title: `Higher limits for ${d.key}: ${d.status}`,
      blocks: [
        text(d.status === 'approved' ? 'These limits apply from now on:' : 'The limits stay as they are.'),
        ...(d.status === 'approved' ? [limits] : []),
        ...(d.answer === '' ? [] : [text(d.answer)]),
        action('See your limits', `/${d.slug}/live/budgets`),
      ],
      reason: `because a person of ${d.org} asked for higher limits`,
    };
  },
});

export const creditMails = {
  low_balance,
  credits_exhausted,
  credits_expiring,
  plan_grace,
  plan_fee_rises,
  plan_changed,
  budget_threshold,
  budget_exhausted,
  limit_request_updated,
};
