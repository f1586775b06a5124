// Two targets beside each other, of this run or of an earlier one: better, worse, or one cannot tell.
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  EvalComparisonDocument,
  type EvalComparisonQuery,
  type EvalRunRowFragment,
  EvalRunsDocument,
} from '../../api/gen/tools/graphql.ts';
import type { EvalRunSearch } from '../../app/search.ts';
import { Card } from '../../ui/card.tsx';
import { agoText, instantOf } from '../../ui/format/time.ts';
import { Money } from '../../ui/money.tsx';
import { Bone, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { useNow } from '../../ui/time.tsx';
import { boundsText, scoreText, targetText, verdictOf } from './words.ts';

type Comparison = NonNullable<EvalComparisonQuery['evalComparison']>;

interface Props {
  readonly run: EvalRunRowFragment;
  readonly search: EvalRunSearch;
  readonly onChange: (next: EvalRunSearch) => void;
}

/** The runs that this one can be compared with: of its suite, ended, and not itself. */
function useOthers(run: EvalRunRowFragment): readonly EvalRunRowFragment[] {
  const [{ data }] = useQuery({ query: EvalRunsDocument, variables: { first: 50, suite: run.suiteId } });
  return (data?.evalRuns?.nodes ?? []).filter(({ id, score }) => id !== run.id && score !== null);
}

/** Which two are compared: what the address says, where that exists. */
function placesOf({ run, search }: Props, others: readonly EvalRunRowFragment[]) {
  const alone = run.targets.length < 2;
  const wanted = search.with ?? (alone ? others[0]?.id : undefined);
  const other = others.find(({ id }) => id === wanted);
  const [from_default, to_default] = other === undefined ? [0, 1] : [0, 0];
  const from_count = (other ?? run).targets.length;
  return {
    other,
    from: Math.min(search.from ?? from_default, from_count - 1),
    to: Math.min(search.to ?? to_default, run.targets.length - 1),
  };
}

function TargetChoice(props: {
  name: string;
  targets: EvalRunRowFragment['targets'];
  value: number;
  onChange: (n: number) => void;
}) {
  return (
    <label className="eval-pick">
      <span>{props.name}</span>
      <select
        className="input"
        value={props.value}
        onChange={(event) => props.onChange(Number(event.target.value))}
      >
        {props.targets.map((target, n) => (
          <option key={targetText(target)} value={n}>
            {targetText(target)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Verdict({ comparison }: { comparison: Comparison }) {
  const { decision, difference, low, high, p, from, to } = comparison;
  const tone = { BETTER: 'ok', WORSE: 'bad', CANNOT_TELL: 'mute' } as const;
  const word = { BETTER: 'better', WORSE: 'worse', CANNOT_TELL: 'cannot tell' } as const;
  return (
    <div className="eval-verdict" role="status">
      <Status tone={tone[decision]}>{word[decision]}</Status>
      <span>{verdictOf(comparison)}</span>
      <span className="soft">
        Case by case a difference of {scoreText(difference)} (95 %: {boundsText(low, high)}), p {scoreText(p)}
        . Over all their own cases: {scoreText(from.score)} for <Money micro={from.costMicro} /> before,{' '}
        {scoreText(to.score)} for <Money micro={to.costMicro} /> now.
      </span>
    </div>
  );
}

function Compared({ run, places }: { run: EvalRunRowFragment; places: ReturnType<typeof placesOf> }) {
  const { other, from, to } = places;
  const [{ data, error }, again] = useQuery({
    query: EvalComparisonDocument,
    variables: { id: run.id, from, to, ...(other === undefined ? {} : { with: other.id }) },
    requestPolicy: 'cache-and-network',
  });
  if (error)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  return data?.evalComparison ? <Verdict comparison={data.evalComparison} /> : <Bone width={260} />;
}

export function CompareCard(props: Props) {
  const { run, search, onChange } = props;
  const now = useNow();
  const others = useOthers(run);
  const places = placesOf(props, others);
  const { other, from, to } = places;
  if (run.targets.length < 2 && others.length === 0) return null;
  const { with: _with, from: _from, to: _to, ...calm } = search;
  const choose = (id: string) => onChange(id === '' ? calm : { ...calm, with: id });
  return (
    <Card title="Comparison" note="By a paired test over the cases that both answered, at 5 %.">
      <div className="eval-picks">
        <label className="eval-pick">
          <span>Run</span>
          <select className="input" value={other?.id ?? ''} onChange={(event) => choose(event.target.value)}>
            {run.targets.length > 1 && <option value="">This run</option>}
            {others.map(({ id, createdAt, suiteRevision, score }) => (
              <option key={id} value={id}>
                {`${agoText(instantOf(createdAt), now)}, revision ${suiteRevision}, score ${scoreText(score)}`}
              </option>
            ))}
          </select>
        </label>
        <TargetChoice
          name="Before"
          targets={(other ?? run).targets}
          value={from}
          onChange={(n) => onChange({ ...search, from: n })}
        />
        <TargetChoice
          name="Now"
          targets={run.targets}
          value={to}
          onChange={(n) => onChange({ ...search, to: n })}
        />
      </div>
      <Compared run={run} places={places} />
    </Card>
  );
}
