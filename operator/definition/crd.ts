// The custom resource definition of RoutingPolicy, generated from the one source of the policy language
// (core/policies/types.ts). It runs when the chart is written and in tests, never in the operator.
import { policySchema } from '@svc/core/policies/index.ts';
import { yamlText } from '../text.ts';
import { conditionTypes, GROUP, KIND, PLURAL, PROPAGATING, VERSION } from '../types.ts';

export type Schema = { readonly [word: string]: unknown };

export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

/** What depends on which keys are there: a rule either denies or acts. In CEL, because it says so in words. */
function withRuleChecks(policy: Schema): Schema {
  const { rules, ...properties } = policy['properties'] as { readonly rules: Schema };
  const { not: _, ...rule } = rules['items'] as { readonly not: Schema; readonly properties: object };
  const actions = Object.keys(rule.properties).filter(
    (key) => !['name', 'match', 'continue', 'deny'].includes(key),
  );
  const acts = actions.map((key) => `has(self.${key})`).join(' || ');
  const items = {
    ...rule,
    'x-kubernetes-validations': [
      { rule: `!has(self.deny) || !(${acts})`, message: 'a rule has deny or actions, not both' },
    ],
  };
  const unique = {
    rule: 'self.all(a, !has(a.name) || self.exists_one(b, has(b.name) && b.name == a.name))',
    message: 'rule names must differ',
  };
  return {
    ...policy,
    properties: { ...properties, rules: { ...rules, items, 'x-kubernetes-validations': [unique] } },
  };
}

/** Where an object is kept; `scope` of its key. */
export const connectionOf = (what: string, scope: string): Schema => ({
  type: 'object',
  description: `The service that stores the ${what}, and the API key for it.`,
  required: ['credentialsSecretRef'],
  properties: {
    baseUrl: text(
      "Address of the service; unset: the operator's. The operator must allow any other address.",
      {
        pattern: '^https?://[^\\s?#@]+$',
        maxLength: 2048,
      },
    ),
    credentialsSecretRef: {
      type: 'object',
      description: `Secret of this namespace with an API key that has the scope ${scope}.`,
      required: ['name'],
      properties: {
        name: text('Name of the Secret.', {
          ...{ maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' },
        }),
        key: text('Key in the Secret.', {
          ...{ maxLength: 253, pattern: '^[A-Za-z0-9._-]+$', default: 'token' },
        }),
      },
    },
  },
});

const scope: Schema = {
  type: 'object',
  description: 'The scope that the policy applies to. It cannot be changed.',
  required: ['kind'],
  properties: {
    kind: text('Org or Project.', { enum: ['Org', 'Project'] }),
    projectId: text('The project, prj_…; with kind Project, or projectRef.', {
      pattern: '^prj_[0-9A-HJKMNP-TV-Z]{26}$',
    }),
    projectRef: {
      type: 'object',
      description: 'Project object of this namespace; with kind Project, or projectId.',
      required: ['name'],
      properties: {
        name: text('Its name.', {
          ...{ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' },
        }),
      },
    },
  },
  'x-kubernetes-validations': [
    { rule: 'self == oldSelf', message: 'scope is immutable' },
    {
      rule: "(self.kind == 'Project') == (has(self.projectId) || has(self.projectRef))",
      message: 'projectId or projectRef is given with kind Project, and only then',
    },
    {
      rule: '!has(self.projectId) || !has(self.projectRef)',
      message: 'one of projectId and projectRef is given',
    },
  ],
};

const spec: Schema = {
  type: 'object',
  description: 'The policy, its scope, and how it is managed.',
  required: ['connection', 'scope', 'policy'],
  properties: {
    connection: connectionOf('policy', 'manage:policies'),
    policyName: text('Name of the policy in the service; unset: <namespace>-<name>. It cannot be changed.', {
      pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
    }),
    scope,
    activate: {
      ...{ type: 'boolean', default: true },
      description: 'Whether the policy is activated for its scope; false: it is only stored.',
    },
    driftPolicy: text('What is done about changes made elsewhere.', {
      ...{ enum: ['Correct', 'Report'], default: 'Correct' },
    }),
    deletionPolicy: text('What happens to the policy when this object is deleted.', {
      ...{ enum: ['Deactivate', 'Retain'], default: 'Deactivate' },
    }),
    policy: {
      ...withRuleChecks(policySchema('kubernetes')),
      description: 'The policy, as its text in the service, without version and policy.',
    },
  },
  'x-kubernetes-validations': [
    {
      rule:
        'has(self.policyName) == has(oldSelf.policyName) && ' +
        '(!has(self.policyName) || self.policyName == oldSelf.policyName)',
      message: 'policyName is immutable',
    },
  ],
};

export const observedGeneration: Schema = {
  ...{ type: 'integer', format: 'int64' },
  description: 'Generation of the object that this was found for.',
};

export const conditionOf = (types: readonly string[]): Schema => ({
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: text('Which condition.', { enum: [...types] }),
    status: text('Whether it holds.', { enum: ['True', 'False', 'Unknown'] }),
    reason: text('Why, in one word.', { maxLength: 1024 }),
    message: text('Why, for people.', { maxLength: 32_768 }),
    observedGeneration,
    lastTransitionTime: text('When the status changed last.', { format: 'date-time' }),
  },
});

const status: Schema = {
  type: 'object',
  description: 'State of the policy in the service.',
  properties: {
    observedGeneration,
    policyName: text('Name of the policy in the service.'),
    projectId: text('The project that it applies to; with kind Project.'),
    version: { type: 'integer', description: 'The newest version that this object wrote.' },
    activeVersion: {
      type: 'integer',
      description: 'The version of the policy that is active for the scope.',
    },
    contentHash: text('SHA-256 of the text of `version`.'),
    url: text('The policy in the console.'),
    lastSyncedAt: text('When the policy in the service last matched this object.', {
      format: 'date-time',
    }),
    gateways: {
      type: 'object',
      description: 'How many of all gateways route by the active version.',
      properties: {
        applied: { type: 'integer', description: 'Gateways that use the active version.' },
        total: { type: 'integer', description: 'All gateways.' },
      },
    },
    canary: {
      type: 'object',
      description: 'How an endpoint on trial does; of several the one that does worst.',
      properties: {
        endpointId: text('The endpoint on trial.'),
        state: text('Pending, green or red.'),
        errorRate: text('Share of its calls that failed, 0 to 1; empty without calls.'),
        samples: { type: 'integer', description: 'Calls that were judged there.' },
        percent: text('Percent of the calls that could go there; 0 once it was rolled back.'),
        reason: text('Why the state is what it is.'),
      },
    },
    conditions: {
      type: 'array',
      description: 'Accepted, Synced, Activated, Ready and Propagating, each with its reason.',
      items: conditionOf([...conditionTypes, PROPAGATING]),
      ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
    },
  },
};

export const ready = (part: string) => `.status.conditions[?(@.type=="Ready")].${part}`;
export const column = (name: string, type: string, jsonPath: string, priority = 0) => ({
  ...{ name, type, jsonPath },
  ...(priority === 0 ? {} : { priority }),
});

/** The definition as data. */
function routingPolicyDefinition(): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${PLURAL}.${GROUP}`,
      // Deleting the definition deletes every policy with it: `helm uninstall` leaves it.
      annotations: { 'helm.sh/resource-policy': 'keep' },
    },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        ...{ kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: 'routingpolicy' },
        // No category: kubectl expands a category before short names, so one named `svc` would hide Services.
        shortNames: ['rp'],
      },
      versions: [
        {
          ...{ name: VERSION, served: true, storage: true, subresources: { status: {} } },
          additionalPrinterColumns: [
            column('Ready', 'string', ready('status')),
            column('Version', 'integer', '.status.version'),
            column('Active', 'integer', '.status.activeVersion'),
            column('Scope', 'string', '.spec.scope.kind'),
            column('Reason', 'string', ready('reason'), 1),
            column('Policy', 'string', '.status.policyName', 1),
            column('Project', 'string', '.status.projectId', 1),
            column('Age', 'date', '.metadata.creationTimestamp'),
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: 'A routing policy of the gateway, managed by this object.',
              required: ['spec'],
              properties: {
                apiVersion: text(`Version of the definition, ${GROUP}/${VERSION}.`),
                kind: text(`${KIND}.`),
                metadata: { type: 'object' },
                spec,
                status,
              },
            },
          },
        },
      ],
    },
  };
}

/** The definition as the file of the chart. */
export function routingPolicyYaml(): string {
  const head =
    '# Generated by `node operator/definition/write-crd.ts` from core/policies/types.ts; a test compares them.\n';
  return head + yamlText(routingPolicyDefinition());
}
