/**
 * A real system that tests need, such as a Kafka broker, a Java Connect worker, an API server or PostgreSQL. Each part
 * is a module that determines how this machine can provide it and starts it. `parts.ts` lists all parts.
 */
export type Part<Address> = {
  readonly name: string
  readonly version: string
  /** Finds the first way that works on this machine. It is fast and downloads nothing. */
  find(): Promise<Found>
  /** Starts the part as `find` determined. `bring` starts a part that this one depends on, once for all. */
  start(bring: Bring): Promise<Started<Address>>
}

/** The ways in the order in which they are tried. `cached`: starting downloads nothing. */
export type Found =
  | { readonly how: 'environment' | 'docker' | 'toolchain'; readonly detail: string; readonly cached: boolean }
  | { readonly how: 'missing'; readonly detail: string }

/** `address` is plain data, because it is sent to the test processes as JSON. */
export type Started<Address> = { readonly address: Address; stop(): Promise<void> }

export type Bring = <Address>(part: Part<Address>) => Promise<Address>
export type AddressOf<P> = P extends Part<infer Address> ? Address : never
