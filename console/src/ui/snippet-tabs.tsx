// The same first call for each client, behind tabs, with the line that puts the key into the environment.
import { Tabs } from '@mantine/core';
import { CopyButton } from './copy.tsx';
import { colour, snippets } from './snippets.ts';

/** Code with a copy button; the region scrolls by keyboard. */
export function Code({ code, what }: { code: string; what: string }) {
  let at = 0;
  return (
    <div className="code-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard */}
      <section className="code" tabIndex={0} aria-label={what}>
        <pre>
          {colour(code).map(([kind, text]) => {
            at += text.length;
            return kind === 'plain' ? (
              text
            ) : (
              <span key={at} className={`tok-${kind}`}>
                {text}
              </span>
            );
          })}
        </pre>
      </section>
      <CopyButton text={code} what={what} />
    </div>
  );
}

/** `secret` only where it is on screen anyway: then the line that sets the variable can be copied with it. */
export function SnippetTabs(props: { base_url: string; model: string; secret?: string }) {
  const all = snippets(props);
  return (
    <Tabs defaultValue={all[0]?.name ?? ''} keepMounted={false}>
      <Tabs.List aria-label="Client">
        {all.map(({ name }) => (
          <Tabs.Tab value={name} key={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {all.map(({ name, code }) => (
        <Tabs.Panel value={name} key={name}>
          <div className="snippet">
            {props.secret !== undefined && (
              <div className="row wrap snippet-env">
                <span className="sub">First set the variable</span>
                <CopyButton
                  text={`export GATEWAY_API_KEY=${props.secret}`}
                  what="the line that sets GATEWAY_API_KEY"
                  label="Copy export GATEWAY_API_KEY=…"
                />
              </div>
            )}
            <Code code={code} what={`the ${name} snippet`} />
          </div>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
