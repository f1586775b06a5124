// What projects and keys may do in a minute, what is left of it now, and the way to more.
import { useState } from 'react';
import type { BudgetRowFragment, BudgetsQuery } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { BoneRows, Empty } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { LimitCells, limitColumns } from './limit-cells.tsx';
import { newOrgText } from './limits.ts';
import { ProjectLimitsDialog, ProjectLimitsTable } from './project-limits.tsx';

export type Limits = NonNullable<BudgetsQuery['limits']>;
export type LimitedKey = Limits['keys'][number];

function Row({ row, limits, onAsk }: { row: LimitedKey; limits: Limits; onAsk: (() => void) | null }) {
  const project = limits.projects.find(({ projectId }) => projectId === row.projectId);
  return (
    <tr>
      <td className="budget-name">{row.name}</td>
      <LimitCells
        bounds={[row.configured, project?.configured, { rpm: limits.newOrg.rpm ?? null }, limits.plan]}
        live={row.live}
      />
      <td className="n">
        {onAsk && (
          <Button onClick={onAsk} aria-label={`Ask for higher limits of ${row.name}`}>
            Ask for more…
          </Button>
        )}
      </td>
    </tr>
  );
}

function refusedText({ rejected24h, upstreamCapacity24h }: Limits): string {
  const refused = rejected24h.rpm + rejected24h.tpm + rejected24h.concurrency;
  const by_limits =
    refused === 0 ? 'No call was refused by a limit' : `${plural(refused, 'call')} refused by limits`;
  const full =
    upstreamCapacity24h === 0 ? '' : `, ${plural(upstreamCapacity24h, 'call')} by providers without capacity`;
  return `${by_limits}${full} in 24 hours.`;
}

function runningText({ concurrencyInUse: running }: Limits['plan']['live']): string {
  return running === 0 ? '' : ` ${plural(running, 'call')} running now.`;
}

function planText({ rpm, tpm, concurrency }: Limits['plan']): string {
  const of = (limit: number | null | undefined, unit: string) =>
    limit === null || limit === undefined ? [] : [`${countText(limit)} ${unit}`];
  const parts = [
    ...of(rpm, 'calls a minute'),
    ...of(tpm, 'tokens a minute'),
    ...of(concurrency, 'calls at once'),
  ];
  return parts.length === 0
    ? 'Your organization has no limits; keys have those that they were given.'
    : `All keys together: ${parts.join(', ')}.`;
}

interface Props {
  /** Undefined: they are being read; null: they cannot be. */
  readonly limits: Limits | null | undefined;
  readonly allowed: boolean;
  readonly onAsk: (row: LimitedKey) => void;
}

interface CardProps extends Pick<Props, 'allowed' | 'onAsk'> {
  /** Undefined: it is being read. */
  readonly data: BudgetsQuery | undefined;
  readonly onChanged: (said: string) => void;
}

function Rows({ limits, allowed, onAsk }: Props) {
  if (!limits) return <BoneRows rows={2} columns={5} />;
  return limits.keys.map((row) => (
    <Row
      key={row.keyId}
      row={row}
      limits={limits}
      onAsk={allowed && row.status === 'active' ? () => onAsk(row) : null}
    />
  ));
}

function LimitsTable(props: Props) {
  if (props.limits === null) return <Empty title="Limits cannot be read">Try again in a moment.</Empty>;
  if (props.limits?.keys.length === 0) {
    return <Empty title="No key yet">Limits of a key appear when there is one.</Empty>;
  }
  return (
    <Table name="Limits of keys" stacks busy={props.limits === undefined}>
      <Columns of={['Key', ...limitColumns]} />
      <tbody>
        <Rows {...props} />
      </tbody>
    </Table>
  );
}

export function LimitsCard({ data, onChanged, allowed, onAsk }: CardProps) {
  const limits = data?.limits ?? undefined;
  const { environment } = useOrg();
  const [edited, setEdited] = useState<BudgetRowFragment | null>(null);
  const rows = data?.projects?.filter((row) => row.environment === environment);
  const close = () => setEdited(null);
  const done = (said: string) => {
    close();
    onChanged(said);
  };
  return (
    <Card title="Limits" note={limits?.live ? refusedText(limits) : undefined} flush>
      {limits && (
        <div className="limits-plan">
          <p>
            {planText(limits.plan)}
            {runningText(limits.plan.live)}
          </p>
          {newOrgText(limits.newOrg) !== '' && <p>{newOrgText(limits.newOrg)}</p>}
          {!limits.live && (
            <p className="sub">What is left now is not known here: the counters are not shared.</p>
          )}
        </div>
      )}
      {limits && rows && (
        <div className="limits-projects">
          <ProjectLimitsTable limits={limits} rows={rows} onEdit={allowed ? setEdited : null} />
        </div>
      )}
      <LimitsTable limits={limits} allowed={allowed} onAsk={onAsk} />
      {edited && <ProjectLimitsDialog row={edited} onClose={close} onDone={done} />}
    </Card>
  );
}
