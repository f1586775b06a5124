// A dialog over the page. Focus goes in and comes back; the page behind it does not scroll.
import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';

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
    return () => classList.remove(...locks);
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
