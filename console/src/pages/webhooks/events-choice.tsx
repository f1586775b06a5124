// Which events an endpoint gets: all of them, also those of later releases, or those that are ticked.
import { useQuery } from 'urql';
import { WebhookEventsDocument } from '../../api/gen/tools/graphql.ts';
import { Bone } from '../../ui/states.tsx';

/** `events` with `name` put in, or taken out where it was in. */
export function toggled(events: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(events);
  if (!next.delete(name)) next.add(name);
  return next;
}

interface Choice {
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (events: ReadonlySet<string>) => void;
}

function Types({ chosen, onChoose }: Choice) {
  const [{ data }] = useQuery({ query: WebhookEventsDocument, requestPolicy: 'cache-first' });
  if (!data?.webhookEvents) return <Bone width={220} height={120} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="webhook-types" aria-label="Event types" tabIndex={0}>
      {data.webhookEvents.map(({ name, description }) => (
        <label className="check" key={name}>
          <input
            type="checkbox"
            checked={chosen.has(name)}
            onChange={() => onChoose(toggled(chosen, name))}
          />
          <span>
            <code className="mono">{name}</code> <span className="faint">{description}</span>
          </span>
        </label>
      ))}
    </section>
  );
}

export function EventsChoice({ chosen, onChoose, fault }: Choice & { fault: string | null }) {
  const all = chosen.has('*');
  return (
    <fieldset className="webhook-events">
      <legend>Which events</legend>
      <label className="check">
        <input type="radio" name="which" checked={all} onChange={() => onChoose(new Set(['*']))} />
        <span>
          All <span className="faint">also those of later releases</span>
        </span>
      </label>
      <label className="check">
        <input type="radio" name="which" checked={!all} onChange={() => onChoose(new Set())} />
        <span>These</span>
      </label>
      {!all && <Types chosen={chosen} onChoose={onChoose} />}
      {fault && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}
