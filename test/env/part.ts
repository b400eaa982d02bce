/**
 * A real thing that tests need: a Kafka broker, a Java Connect worker, later a kube-apiserver or a PostgreSQL. Each part
 * is a module that says how this machine could bring it and how to start it; `parts.ts` lists them.
 */
export type Part<Address> = {
  readonly name: string
  readonly version: string
  /** Looks, quickly and without downloading, for the first way that works here. */
  find(): Promise<Found>
  /** Starts what `find` found. `bring` starts another part that this one stands on, once for everybody. */
  start(bring: Bring): Promise<Started<Address>>
}

/** In the order in which they are tried. `cached`: starting downloads nothing. */
export type Found =
  | { readonly how: 'environment' | 'docker' | 'toolchain'; readonly detail: string; readonly cached: boolean }
  | { readonly how: 'missing'; readonly detail: string }

/** `address` is plain data: it travels to the processes that run the tests. */
export type Started<Address> = { readonly address: Address; stop(): Promise<void> }

export type Bring = <Address>(part: Part<Address>) => Promise<Address>
export type AddressOf<P> = P extends Part<infer Address> ? Address : never
