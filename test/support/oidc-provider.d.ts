// The part that the tests use. The library has no type declarations.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  // biome-ignore lint/style/noDefaultExport: the library has a default export
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
