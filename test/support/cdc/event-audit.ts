/** The members of a change event that the audit needs. */
export type AuditedEvent = {
  readonly table: string
  readonly key: string
  readonly timestampMs: number
  /** Null for a tombstone. */
  readonly change: Change | null
}
export type Change = {
  readonly op: 'c' | 'r' | 'u' | 'd'
  readonly before: Row | null
  readonly after: Row | null
  readonly source: { readonly txId: number; readonly lsn: number }
}
type Row = Readonly<Record<string, unknown>>

/** The stored offset of the connector when its worker was killed. */
export type Kill = { readonly atMs: number; readonly offset: Readonly<Record<string, unknown>> | undefined }

export type AuditReport = {
  readonly transactions: number
  readonly changes: number
  readonly duplicates: number
  /** What is missing, torn or repeated without a reason; at most a few of each kind. */
  readonly findings: readonly string[]
}

/**
 * Checks the events of `ConcurrentWriters`. Each transaction updates the row of its client in `clients`, which counts the
 * transactions of the client and their changes. So no transaction is missing if the counts of each client have no gap, and none is
 * torn if it has as many events as its client counted.
 */
export class EventAudit {
  readonly #changesOf = new Map<number, number>()
  readonly #seen = new Set<string>()
  readonly #counted = new Map<number, { readonly transaction: number; readonly changes: number }>()
  readonly #snapshotOf = new Map<string, number>()
  readonly #lastOf = new Map<string, number>()
  /** Positions of transactions in the order of their commits. */
  readonly #order = new Map<number, number>()
  readonly #repeated: { readonly event: string; readonly txId: number; readonly lsn: number; readonly atMs: number }[] =
    []
  readonly #findings: string[] = []

  add({ table, key, timestampMs, change }: AuditedEvent): void {
    if (change === null) return
    if (change.op === 'r') {
      this.#addSnapshotRow(table, change)
      return
    }
    const { txId, lsn } = change.source
    const event = `${table} ${key} ${change.op} ${txId} ${lsn}`
    if (this.#seen.has(event)) {
      this.#repeated.push({ event, txId, lsn, atMs: timestampMs })
      return
    }
    this.#seen.add(event)
    this.#changesOf.set(txId, (this.#changesOf.get(txId) ?? 0) + 1)
    if (table === 'clients') this.#addClient(change, txId)
  }

  report(kills: readonly Kill[]): AuditReport {
    for (const [txId, { changes }] of this.#counted) {
      const found = this.#changesOf.get(txId) ?? 0
      if (found !== changes)
        this.#findings.push(`transaction ${txId} has ${changes} changes, and ${found} of them are there`)
    }
    for (const [txId, count] of this.#changesOf) {
      if (!this.#counted.has(txId)) this.#findings.push(`${count} changes of transaction ${txId}, without the last one`)
    }
    const unreasoned = this.#repeated.filter((repeated) => !this.#isBehindOffset(repeated, kills))
    this.#findings.push(...unreasoned.map(({ event }) => `repeated before the stored offset: ${event}`))
    return {
      transactions: this.#counted.size,
      changes: this.#seen.size,
      duplicates: this.#repeated.length,
      findings: this.#findings.slice(0, 20),
    }
  }

  /** The rows of a snapshot that continued after a kill may be newer than the first changes. */
  #addSnapshotRow(table: string, { after }: Change): void {
    if (table === 'clients') this.#snapshotOf.set(String(after?.['id']), Number(after?.['transactions']))
  }

  #addClient({ before, after }: Change, txId: number): void {
    const [client, transaction] = [String(after?.['id']), Number(after?.['transactions'])]
    const last = this.#lastOf.get(client) ?? Number(before?.['transactions'])
    if (last > (this.#snapshotOf.get(client) ?? -1) && !this.#lastOf.has(client)) {
      this.#findings.push(
        `client ${client}: transaction ${transaction} follows the snapshot of ${this.#snapshotOf.get(client)}`,
      )
    }
    if (transaction !== last + 1) this.#findings.push(`client ${client}: transaction ${transaction} follows ${last}`)
    this.#lastOf.set(client, transaction)
    this.#counted.set(txId, { transaction, changes: Number(after?.['changes']) - Number(before?.['changes']) })
    this.#order.set(txId, this.#order.size)
  }

  /** A repeated event is allowed after a restart if the stored offset does not include it. */
  #isBehindOffset({ txId, lsn, atMs }: { txId: number; lsn: number; atMs: number }, kills: readonly Kill[]): boolean {
    const kill = kills.findLast((one) => one.atMs <= atMs)
    if (kill === undefined) return false
    // Without a position in the stream, `txId` is that of the snapshot: a transaction of the stream may have the same number.
    if (kill.offset?.['position_lsn'] === undefined) return true
    const stored = Number(kill.offset?.['txId'])
    if (stored === txId) return lsn >= Number(kill.offset?.['lsn'])
    const [position, storedPosition] = [this.#order.get(txId), this.#order.get(stored)]
    return position !== undefined && (storedPosition === undefined || position > storedPosition)
  }
}
