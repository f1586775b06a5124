// The widget of the bot challenge, drawn by its provider's script, which only this kind of page loads.
import { useEffect, useRef, useState } from 'react';
import { challenge } from '../../api/boot.ts';
import { faultOfForm } from '../../api/errors.ts';
import { FormFault } from '../../ui/states.tsx';

interface Widget {
  render(element: HTMLElement, options: Record<string, unknown>): string;
  reset(id: string): void;
}

/** Both providers have the same two functions, each under its own name. */
const scripts = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js?render=explicit',
} as const;

function widgetOf(provider: keyof typeof scripts): Widget | undefined {
  return (window as unknown as Record<string, Widget | undefined>)[provider];
}

function loadWidget(provider: keyof typeof scripts): Promise<Widget> {
  return new Promise((done, fail) => {
    const present = widgetOf(provider);
    if (present !== undefined) return done(present);
    const script = document.createElement('script');
    script.src = scripts[provider];
    script.async = true;
    script.onload = () => {
      const widget = widgetOf(provider);
      if (widget === undefined) fail(new Error('the script has no widget'));
      else done(widget);
    };
    script.onerror = () => fail(new Error('the script did not load'));
    document.head.append(script);
  });
}

/**
 * Shows the challenge where the installation has one. `onAnswer` gets the answer, and "" when it has lapsed; `tries`
 * counts what was sent, because an answer is good once.
 */
function ChallengeField(props: { tries: number; onAnswer: (answer: string) => void; onLost: () => void }) {
  const { tries, onAnswer, onLost } = props;
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ widget: Widget; id: string } | null>(null);
  const said = useRef({ onAnswer, onLost });
  said.current = { onAnswer, onLost };
  useEffect(() => {
    if (challenge === null) return;
    const { provider, site_key: sitekey } = challenge;
    loadWidget(provider).then(
      (widget) => {
        if (place.current === null || drawn.current !== null) return;
        const id = widget.render(place.current, {
          sitekey,
          callback: (answer: string) => said.current.onAnswer(answer),
          'expired-callback': () => said.current.onAnswer(''),
          'error-callback': () => said.current.onLost(),
        });
        drawn.current = { widget, id };
      },
      () => said.current.onLost(),
    );
  }, []);
  useEffect(() => {
    if (tries > 0 && drawn.current !== null) drawn.current.widget.reset(drawn.current.id);
  }, [tries]);
  return challenge === null ? null : <div ref={place} className="challenge" />;
}

/** The challenge of a form: its answer, where it is shown, and that it was used up. */
export function useChallenge() {
  const [answer, setAnswer] = useState('');
  const [tries, setTries] = useState(0);
  const [lost, setLost] = useState(false);
  /** An answer is good once, whatever became of the request. */
  const spend = () => {
    setAnswer('');
    setTries((before) => before + 1);
  };
  const field = (
    <>
      <ChallengeField tries={tries} onAnswer={setAnswer} onLost={() => setLost(true)} />
      <FormFault
        fault={lost ? faultOfForm('The check against programs did not load. Reload the page.') : null}
      />
    </>
  );
  return { answer, spend, field };
}
