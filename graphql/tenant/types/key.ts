// API keys.
import {
  CreateKeyInput,
  createKeyOperation,
  deleteKeyOperation,
  getKeyOperation,
  KeyView,
  keyStatuses,
  listKeysOperation,
  PatchKeyInput,
  patchKeyOperation,
  resumeKeyOperation,
  rotateKeyOperation,
} from '@svc/core/keys/index.ts';
import { builder, derive, Node } from '../builder.ts';
import { connectionType, pageField } from '../connection.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';
import { Project } from './organization.ts';

interface Payload {
  readonly answer: { readonly secret: string };
}

derive.enum('KeyStatus', keyStatuses);

export const Key = derive.output('Key', KeyView, {
  interfaces: [Node],
  extra: (t) => ({
    project: t.field({
      type: Project,
      nullable: true,
      description: 'null where the project is archived',
      resolve: async (
        key: { project_id: string },
        _args: unknown,
        { loaders }: { loaders: { projects(): Promise<ReadonlyMap<string, unknown>> } },
      ) => (await loaders.projects()).get(key.project_id) ?? null,
    }),
  }),
});

const KeyConnection = connectionType('Key', Key);

builder.queryFields((t) => ({
  keys: pageField(t, 'Keys', {
    operation: listKeysOperation,
    type: KeyConnection,
    options: () => ({}),
  }),
  key: t.field({
    type: Key,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: getKeyOperation.name },
    resolve: (_root, { id }, { runner }) => nullWhenMissing(runner.run(getKeyOperation, { id })),
  }),
}));

mutation({
  name: 'createKey',
  operation: createKeyOperation,
  input: CreateKeyInput,
  description: 'Makes a key; the answer shows its secret once.',
  payload: (t) => ({
    key: t.field({ type: Key, resolve: ({ answer }: Payload) => answer }),
    secret: t.string({ description: 'shown once', resolve: ({ answer }: Payload) => answer.secret }),
  }),
});

mutation({
  name: 'updateKey',
  operation: patchKeyOperation,
  input: PatchKeyInput,
  description: 'Changes what is given; null is the default where there is one.',
  payload: (t) => ({ key: t.field({ type: Key, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'rotateKey',
  operation: rotateKeyOperation,
  input: rotateKeyOperation.input,
  description:
    'Replaces a key; the old one keeps working for the grace time. The answer shows the new secret once.',
  payload: (t) => ({
    key: t.field({ type: Key, description: 'the new one', resolve: ({ answer }: Payload) => answer }),
    secret: t.string({ description: 'shown once', resolve: ({ answer }: Payload) => answer.secret }),
  }),
});

mutation({
  name: 'resumeKey',
  operation: resumeKeyOperation,
  input: resumeKeyOperation.input,
  description: 'Lets a key that its budget has stopped call again until the window ends.',
  payload: (t) => ({ key: t.field({ type: Key, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'revokeKey',
  operation: deleteKeyOperation,
  input: deleteKeyOperation.input,
  description: 'Ends a key; it stops everywhere within a second.',
  payload: (t) => ({ key: t.field({ type: Key, resolve: ({ answer }: Payload) => answer }) }),
});
