import type { Listing } from './listing.ts'

/** A resource that does not exist. Its name is known to be absent, so the command answers no. */
export class NotFoundError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NotFoundError'
  }
}

/** Sections of a description: text as it is, fields, or a table with a heading. */
export type Section = {
  readonly title?: string
  readonly fields?: readonly (readonly [name: string, value: string | undefined])[]
  readonly table?: readonly (readonly string[])[]
  readonly text?: string
}
/** `data` is what `-o json` prints. */
export type Description = { readonly sections: readonly Section[]; readonly data: unknown }

/** What a verb changes: the past participle of the verb, for the message, and a note for the user. */
export type ChangeOutcome = { readonly done: string; readonly note?: string | undefined }

export type ChangeSelection = {
  readonly task?: number | undefined
  readonly onlyFailed?: boolean | undefined
  readonly isPermanent?: boolean | undefined
  readonly version?: string | undefined
}
export const CHANGES = ['pause', 'resume', 'stop', 'restart', 'delete'] as const
export type ChangeName = (typeof CHANGES)[number]

/** The resources of one kind in a target. Each call rejects with a `NotFoundError` for a name that does not exist. */
export type ResourceSource<Row = unknown> = Listing<Row> & {
  /** Sorted. */
  names(): Promise<readonly string[]>
  /** All rows, or those of these names in their order. `details`: also the wide columns. */
  rows(names: readonly string[], details: boolean): Promise<readonly Row[]>
  describe(name: string): Promise<Description>
  readonly changes: Readonly<
    Partial<Record<ChangeName, (name: string, options: ChangeSelection) => Promise<ChangeOutcome>>>
  >
}
