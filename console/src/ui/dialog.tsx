// A dialog over the page. Focus goes in and comes back; the page behind it does not scroll.
import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';

/** `onClose` is asked by Escape and by a press outside; a dialog that must not be lost answers with a question. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  note?: ReactNode;
  size?: number;
  children: ReactNode;
}) {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    return () => {
      const target =
        opener instanceof HTMLElement && opener.isConnected ? opener : document.getElementById('main');
      // After the focus trap has let go.
      setTimeout(() => target?.focus({ preventScroll: true }));
    };
  }, [opener]);
  useEffect(() => {
    // Mantine's own lock writes a <style> element, which the content security policy refuses.
    const { classList, clientWidth } = document.documentElement;
    const locks = innerWidth > clientWidth ? ['locked', 'locked-bar'] : ['locked'];
    classList.add(...locks);
    // Nothing behind it can be reached, by whatever means: of a page that is covered in part, neither can the part that shows.
    const behind = document.getElementById('root');
    const was = behind?.inert ?? false;
    if (behind !== null) behind.inert = true;
    return () => {
      classList.remove(...locks);
      if (behind !== null) behind.inert = was;
    };
  }, []);
  return (
    <Modal.Root
      opened
      centered
      onClose={props.onClose}
      lockScroll={false}
      returnFocus={false}
      size={props.size ?? 560}
      padding={0}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <div className="dialog">
          <Modal.Title className="dialog-title">{props.title}</Modal.Title>
          {props.note && <p className="dialog-note">{props.note}</p>}
          {props.children}
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

/**
 * The foot of a dialog that asks: the way out, and the one button that does it, by `onPress` or by sending the form around
 * it. In a `cautious` dialog focus begins at the way out.
 */
export function DialogFoot(props: {
  onClose: () => void;
  cautious?: boolean;
  kind?: 'primary' | 'danger';
  busy: boolean;
  disabled?: boolean;
  onPress?: () => void;
  children: ReactNode;
}) {
  const { onClose, cautious = false, kind = 'primary', busy, disabled, onPress, children } = props;
  return (
    <div className="dialog-foot">
      <Button onClick={onClose} data-autofocus={cautious || undefined}>
        Cancel
      </Button>
      <Button
        type={onPress === undefined ? 'submit' : 'button'}
        kind={kind}
        busy={busy}
        disabled={disabled}
        onClick={onPress}
      >
        {children}
      </Button>
    </div>
  );
}
