// Mandates and automatic top-up.
import {
  AutoTopupView,
  cancelMandateOperation,
  createMandateOperation,
  getAutoTopupOperation,
  getMandateOperation,
  listMandatesOperation,
  MandateView,
  mandateStatuses,
  nextSteps,
  pauseMandateOperation,
  resumeMandateOperation,
  setAutoTopupOperation,
  skipAutoTopupOperation,
} from '@svc/core/mandates/index.ts';
import { mandateMethods } from '@svc/core/topups/index.ts';
import { builder, derive, Node } from '../../builder.ts';
import { connectionType, pageField } from '../../connection.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { type Book, Credits } from './credits.ts';

derive.enum('MandateMethod', mandateMethods);
derive.enum('MandateStatus', mandateStatuses);
derive.enum('AutoTopupStep', nextSteps);

const Mandate = derive.output('Mandate', MandateView, { interfaces: [Node] });
const MandateConnection = connectionType('Mandate', Mandate);
const AutoTopup = derive.output('AutoTopup', AutoTopupView);

builder.objectFields(Credits, (t) => ({
  mandates: pageField(t, 'Mandates', {
    operation: listMandatesOperation,
    type: MandateConnection,
    description: 'Newest first; live only.',
    options: ({ environment }: Book) => ({ environment }),
  }),
  mandate: t.field({
    type: Mandate,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getMandateOperation.name },
    resolve: async ({ environment }, { id }, { runner }) =>
      (await nullWhenMissing(runner.run(getMandateOperation, { id }, { environment })))?.mandate ?? null,
  }),
  autoTopup: t.field({
    type: AutoTopup,
    nullable: true,
    description: 'What is set, what happens next, and why it does not; live only.',
    extensions: { operation: getAutoTopupOperation.name },
    resolve: ({ environment }, _args, { runner }) =>
      nullWhenMissing(runner.run(getAutoTopupOperation, {}, { environment })),
  }),
}));

interface OfMandate {
  readonly answer: { readonly mandate: unknown; readonly registration_url: string };
}

mutation({
  name: 'createMandate',
  operation: createMandateOperation,
  input: createMandateOperation.input,
  description: 'Begins to register a mandate; the payer goes to the address.',
  payload: (t) => ({
    mandate: t.field({ type: Mandate, resolve: ({ answer }: OfMandate) => answer.mandate }),
    registrationUrl: t.string({ resolve: ({ answer }: OfMandate) => answer.registration_url }),
  }),
});

const changes = [
  ['pauseMandate', pauseMandateOperation, 'Nothing is debited until it is resumed.'],
  ['resumeMandate', resumeMandateOperation, 'Resumes a paused mandate.'],
  ['cancelMandate', cancelMandateOperation, 'Ends a mandate, also at the payment rail.'],
] as const;
for (const [name, operation, description] of changes) {
  mutation({
    ...{ name, operation, description, input: operation.input },
    payload: (t) => ({
      mandate: t.field({ type: Mandate, resolve: ({ answer }: OfMandate) => answer.mandate }),
    }),
  });
}

const settings = [
  ['setAutoTopup', setAutoTopupOperation, 'Sets automatic top-up; switching it on needs an active mandate.'],
  ['skipAutoTopup', skipAutoTopupOperation, 'Skips a debit that was announced and not made yet.'],
] as const;
for (const [name, operation, description] of settings) {
  mutation({
    ...{ name, operation, description, input: operation.input },
    payload: (t) => ({
      autoTopup: t.field({
        type: AutoTopup,
        resolve: ({ answer }: { readonly answer: unknown }) => answer,
      }),
    }),
  });
}
