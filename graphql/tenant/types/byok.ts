// The organization's own keys at providers. Their secrets are given and never read: no type here has one.
import {
  ByokProviderView,
  ByokView,
  byokStatuses,
  createByokOperation,
  deleteByokOperation,
  listByokOperation,
  patchByokOperation,
  ValidationView,
  validateByokOperation,
} from '@svc/core/byok/index.ts';
import { builder, derive, Node } from '../builder.ts';
import { mutation } from '../mutation.ts';

derive.enum('ProviderKeyStatus', byokStatuses);

const ProviderKey = derive.output('ProviderKey', ByokView, { interfaces: [Node] });
const KeyedProvider = derive.output('KeyedProvider', ByokProviderView, {
  description: 'A provider, and whether it takes keys of callers.',
});
const Validation = derive.output('ProviderKeyValidation', ValidationView);
const ProviderKeys = derive.output('ProviderKeys', listByokOperation.output, {
  omit: ['object', 'data', 'providers'],
  extra: (t) => ({
    keys: t.field({
      type: [ProviderKey],
      description: 'Oldest first.',
      resolve: ({ data }: { readonly data: unknown }) => data,
    }),
    providers: t.field({
      type: [KeyedProvider],
      resolve: ({ providers }: { readonly providers: unknown }) => providers,
    }),
  }),
});

builder.queryFields((t) => ({
  byok: t.field({
    type: ProviderKeys,
    nullable: true,
    description: "The organization's own keys at providers, and the providers that take such keys.",
    extensions: { operation: listByokOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(listByokOperation, {}),
  }),
}));

interface Payload {
  readonly answer: { readonly key: unknown };
}
interface Validated {
  readonly answer: { readonly validation: unknown };
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const withKey = (t: Fields) => ({
  key: t.field({ type: ProviderKey, resolve: ({ answer }: Payload) => answer.key }),
});

mutation({
  name: 'createByok',
  operation: createByokOperation,
  input: createByokOperation.input,
  description: 'Adds a key at a provider; it is stored encrypted, and no answer shows it.',
  payload: withKey,
});

mutation({
  name: 'updateByok',
  operation: patchByokOperation,
  input: patchByokOperation.input,
  description: 'Changes what is given. Another secret counts as not tried yet.',
  payload: withKey,
});

mutation({
  name: 'deleteByok',
  operation: deleteByokOperation,
  input: deleteByokOperation.input,
  description: 'Deletes a key with its secret; no call uses it a second later.',
  payload: (t) => ({ deleted: t.boolean({ resolve: () => true }) }),
});

mutation({
  name: 'validateByok',
  operation: validateByokOperation,
  input: validateByokOperation.input,
  description:
    'Asks the provider whether it accepts the key, which costs nothing; that it does not is no error.',
  payload: (t) => ({
    ...withKey(t),
    validation: t.field({ type: Validation, resolve: ({ answer }: Validated) => answer.validation }),
  }),
});
