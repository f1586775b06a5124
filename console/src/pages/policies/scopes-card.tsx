// Where a policy is active, and the way back.
import { useQuery } from 'urql';
import {
  DeactivatePolicyDocument,
  PolicyGatewaysDocument,
  type PolicyRowFragment,
  RollbackPolicyDocument,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import type { PolicyShown } from './policy-page.tsx';
import { useAgain } from './use-again.ts';
import { gatewaysText, scopeText } from './words.ts';

type Scope = PolicyRowFragment['scopes'][number];

/** How many gateways route by a version; asked again until all do. */
function Gateways({ name, version }: { name: string; version: number }) {
  const [{ data }, again] = useQuery({
    query: PolicyGatewaysDocument,
    variables: { name, version },
    requestPolicy: 'network-only',
  });
  const gateways = data?.policyVersion?.gateways;
  useAgain(gateways ? gateways.applied < gateways.total : false, () =>
    again({ requestPolicy: 'network-only' }),
  );
  if (!gateways) return null;
  return (
    <span className="sub" role="status">
      {gatewaysText(gateways)}
    </span>
  );
}

/** Rolls back or deactivates in one scope. */
function useEnd(shown: PolicyShown, { projectId }: Scope) {
  const { name } = shown.row;
  const input = { name, scope: { projectId: projectId ?? null } };
  const { fault, send, underWay } = useSend();
  const rollBack = async () => {
    const done = await send(RollbackPolicyDocument, input);
    if (done) shown.reread();
  };
  const deactivate = async () => {
    const done = await send(DeactivatePolicyDocument, input);
    if (done) shown.reread();
  };
  return { fault, rollBack, deactivate, underWay };
}

function ScopeLine({ shown, scope }: { shown: PolicyShown; scope: Scope }) {
  const { fault, rollBack, deactivate, underWay } = useEnd(shown, scope);
  const where = scopeText(scope.projectId, shown.projects);
  return (
    <li>
      <b>{where}</b>
      <span className="sub">
        version {scope.version}, since <Time at={scope.activatedAt} />
      </span>
      <Gateways name={shown.row.name} version={scope.version} />
      {shown.editable && (
        <span className="policy-acts">
          <Button busy={underWay(RollbackPolicyDocument) !== null} onClick={() => void rollBack()}>
            Roll back<span className="visually-hidden"> {where}</span>
          </Button>
          <Button
            kind="quiet"
            busy={underWay(DeactivatePolicyDocument) !== null}
            onClick={() => void deactivate()}
          >
            Deactivate<span className="visually-hidden"> for {where}</span>
          </Button>
        </span>
      )}
      <FormFault fault={fault} />
    </li>
  );
}

export function ScopesCard({ shown }: { shown: PolicyShown }) {
  const { scopes } = shown.row;
  const note = scopes.length === 0 ? undefined : plural(scopes.length, 'scope');
  return (
    <Card title="Where it is active" note={note}>
      {scopes.length === 0 ? (
        <p className="soft policy-none">Nowhere: no call is routed by it.</p>
      ) : (
        <ul className="policy-scopes">
          {scopes.map((scope) => (
            <ScopeLine key={scope.projectId ?? ''} shown={shown} scope={scope} />
          ))}
        </ul>
      )}
    </Card>
  );
}
