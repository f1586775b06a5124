// What waits to leave the service, as staff see it: events, deliveries of webhooks, mails, work at rails, and what Temporal is
// still to be told. Ages and attempts; never a body, an address or an argument.
import { type Static, Type } from 'typebox';
import { writeAudit } from '../../identity/index.ts';
import { type Context, nullable, oneOf, operation, Time } from '../../kernel/index.ts';
import { listWaitingMails, readMailBacklog } from '../../mail/index.ts';
import { listWaitingTasks, readRailBacklog } from '../../topups/index.ts';
import {
  listWaitingDeliveries,
  listWaitingFacts,
  readBacklog,
  readDeliveryBacklog,
} from '../../webhooks/index.ts';
import { readWaiting, readWaitingSignals } from '../../workflow-starts/index.ts';

export const outboxQueues = ['events', 'deliveries', 'mails', 'rails', 'starts', 'signals'] as const;
/** Of each queue the oldest; a queue that is longer is counted. */
const OF_QUEUE_MAX = 50;

const Queue = oneOf(outboxQueues);

const QueueView = Type.Object({
  queue: Queue,
  waiting: Type.Integer(),
  oldest_at: nullable(Time),
});

const WaitingView = Type.Object({
  queue: Queue,
  id: Type.String(),
  org_id: nullable(Type.String()),
  what: Type.String({ description: 'type of the event, template of the mail, or the work at the rail' }),
  attempts: Type.Integer(),
  answer: Type.String({ description: 'of the last attempt; empty before the first' }),
  created_at: Time,
  next_at: nullable(Type.String({ format: 'date-time', description: 'of the next attempt; null: at once' })),
});
type WaitingView = Static<typeof WaitingView>;

export const OutboxView = Type.Object({
  queues: Type.Array(QueueView),
  waiting: Type.Array(WaitingView, { description: `of each queue the ${OF_QUEUE_MAX} oldest` }),
});

interface Times {
  readonly created_at: Date;
  readonly next_at?: Date;
}

const times = ({ created_at, next_at }: Times) => ({
  created_at: created_at.toISOString(),
  next_at: next_at?.toISOString() ?? null,
});

/** The oldest of the queues whose entries have attempts or a subject; starts stand under the workflows. */
async function listWaiting({ db, shards }: Context): Promise<WaitingView[]> {
  const facts = await listWaitingFacts({ ...db, shards }, OF_QUEUE_MAX);
  const deliveries = await listWaitingDeliveries(db, OF_QUEUE_MAX);
  const mails = await listWaitingMails(db, OF_QUEUE_MAX);
  const tasks = await listWaitingTasks(db, OF_QUEUE_MAX);
  return [
    ...facts.map((fact) => ({
      ...{ queue: 'events' as const, id: String(fact.outbox_id), org_id: fact.org_id, what: fact.topic },
      ...{ attempts: 0, answer: '', ...times(fact) },
    })),
    ...deliveries.map((one) => ({
      ...{ queue: 'deliveries' as const, id: one.webhook_id, org_id: one.org_id, what: one.type },
      ...{ attempts: one.attempts, answer: one.response_code?.toString() ?? '', ...times(one) },
    })),
    ...mails.map((mail) => ({
      ...{ queue: 'mails' as const, id: mail.id, org_id: mail.org_id, what: mail.template },
      ...{ attempts: mail.attempts, answer: mail.answer, ...times(mail) },
    })),
    ...tasks.map((task) => ({
      ...{ queue: 'rails' as const, id: String(task.rail_task_id), org_id: task.org_id },
      ...{ what: `${task.rail} ${task.kind}`, attempts: task.attempts, answer: task.last_error ?? '' },
      ...times(task),
    })),
  ];
}

export const getOutboxOperation = operation({
  name: 'staff.outbox.get',
  method: 'GET',
  path: '/staff/outbox',
  summary:
    'Show what waits to be sent: events, deliveries, mails, work at rails, and what Temporal is to be told',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({}),
  output: OutboxView,
  errors: [],
  example: {
    queues: [{ queue: 'mails', waiting: 1, oldest_at: '2026-11-21T10:00:00.000Z' }],
    waiting: [
      {
        ...{ queue: 'mails', id: 'mail_01KACZ3V8S6T5R4Q3P2N1M0K9J', org_id: null, what: 'receipt' },
        ...{ attempts: 2, answer: '421 try later', created_at: '2026-11-21T10:00:00.000Z' },
        next_at: '2026-11-21T10:05:00.000Z',
      },
    ],
  },
  run: (context) =>
    context.transaction(async (context) => {
      const { db, shards } = context;
      await writeAudit(context, { action: 'staff.outbox.get', org_id: null });
      const backlogs = {
        events: await readBacklog({ ...db, shards }),
        deliveries: await readDeliveryBacklog(db),
        mails: await readMailBacklog(db),
        rails: await readRailBacklog(db),
        starts: await readWaiting(db),
        signals: await readWaitingSignals(db),
      };
      return {
        queues: outboxQueues.map((queue) => ({
          ...{ queue, waiting: backlogs[queue].waiting },
          oldest_at: backlogs[queue].oldest_at?.toISOString() ?? null,
        })),
        waiting: await listWaiting(context),
      };
    }),
});
