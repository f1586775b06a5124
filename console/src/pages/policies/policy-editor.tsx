// The editor in a page: its code comes when it is opened, and a page without a connection says so in its place.
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Bone } from '../../ui/states.tsx';
import type { Editor, Remark } from './editor/editor.ts';
import type { Schema } from './editor/schema-path.ts';

export interface EditorHandle {
  goTo(place: { line: number; column: number }): void;
}

interface Props {
  readonly ref: Ref<EditorHandle>;
  /** What the editor begins with; it is not changed from outside afterwards. */
  readonly text: string;
  readonly read_only: boolean;
  readonly label: string;
  readonly schema: unknown;
  readonly onText: (text: string) => void;
  readonly judge: (text: string) => Promise<readonly Remark[]>;
}

type State = 'loading' | 'open' | 'lost';

export function PolicyEditor({ ref, ...props }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const first = useRef(props);
  first.current = props;
  const [state, setState] = useState<State>('loading');
  const [tries, setTries] = useState(0);
  useImperativeHandle(ref, () => ({ goTo: (place) => editor.current?.goTo(place) }), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try loads the code again
  useEffect(() => {
    let gone = false;
    void import('./editor/editor.ts').then(
      ({ openEditor }) => {
        if (gone || host.current === null) return;
        const { text, read_only, label, schema } = first.current;
        editor.current = openEditor({
          ...{ parent: host.current, text, read_only, label },
          schema: (schema ?? {}) as Schema,
          onText: (typed) => first.current.onText(typed),
          judge: (typed) => first.current.judge(typed),
        });
        setState('open');
      },
      () => gone || setState('lost'),
    );
    return () => {
      gone = true;
      editor.current?.close();
      editor.current = null;
    };
  }, [tries]);
  return (
    <>
      {state === 'loading' && (
        <div className="card-body">
          <Bone width="60%" height={280} />
        </div>
      )}
      {state === 'lost' && (
        <div className="card-body" role="alert">
          <p className="soft">The editor could not be loaded.</p>
          <Button icon="refresh" onClick={() => setTries(tries + 1)}>
            Try again
          </Button>
        </div>
      )}
      <div ref={host} className="policy-editor" />
    </>
  );
}
