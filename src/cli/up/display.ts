import type { Stack } from '../start-stack.ts'

/** Shows the state of a stack to the person or program that started it. */
export interface Display {
  /** Called before the stack starts, which takes seconds. */
  open(): void
  start(stack: Stack): void
  /** Shows the final state. */
  finish(): Promise<void>
}

export type StackDescription = { readonly manifests: string; readonly broker: string }

/** How often a display is compared with the state of the stack, in ms. */
export const REDRAW_MS = 250
