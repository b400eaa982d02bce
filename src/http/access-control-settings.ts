import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { watchContent } from '../config/file-watcher.ts'
import type { Logger } from '../config/logger.ts'
import { commaSeparated, integerSetting, listSetting } from '../config/settings.ts'
import { tlsMaterial } from '../config/tls.ts'
import { Authentication } from './authentication.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { PasswordAuthenticator } from './password-authenticator.ts'
import { TokenAuthenticator } from './token-authenticator.ts'
import { isTrustworthy, TokenKeys } from './token-keys.ts'
import { openUsers, ROLES, type Role } from './users.ts'

const METHODS = ['NONE', 'BASIC', 'BEARER'] as const
/** Signatures with a key that the issuer keeps to itself. With the others whoever knows the public keys could sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const
const text = (fallback = '') => z.string().trim().default(fallback)

/** Settings of log-ins that the registry and the worker have alike. Those of tokens have Confluent's names. */
export const accessControlShape = {
  'authentication.method': z
    .string()
    .default('NONE')
    .transform((words) => commaSeparated(words.toUpperCase()))
    .pipe(z.array(z.enum(METHODS, `expected some of ${METHODS.join(', ')}`)).min(1, 'expected a method'))
    .meta({ takes: METHODS.join(', ') })
    .describe('How people say who they are: `BASIC`, `BEARER` or both, `BASIC,BEARER`.'),
  'weir.authentication.users.file': text().describe(
    'File of people, a line each: `NAME: HASH, ROLE`, as `weir password` makes them; read again when it changes.',
  ),
  'weir.authentication.users': text().describe('The same lines themselves, for an environment without files.'),
  'weir.authorization.permissions.file': text().describe(
    'File of permissions by role, user and group, YAML; read again when it changes. None: as roles have them.',
  ),
  'oauthbearer.expected.issuer': text().describe('Issuer of bearer tokens, its URL on https.'),
  'oauthbearer.expected.audience': listSetting().default([]).describe('What tokens are made for: one of these.'),
  'oauthbearer.jwks.endpoint.url': text().describe(
    'Where the keys of the issuer are. None: where its `/.well-known/openid-configuration` says.',
  ),
  'oauthbearer.jwks.endpoint.refresh.ms': integerSetting({ min: 1_000 })
    .default(3_600_000)
    .describe('How long they are used before they are fetched anew; a token with another key has that done at once.'),
  'oauthbearer.algorithms': z
    .string()
    .default(ALGORITHMS.join(','))
    .transform(commaSeparated)
    .pipe(z.array(z.enum(ALGORITHMS, `expected some of ${ALGORITHMS.join(', ')}`)).min(1))
    .meta({ takes: ALGORITHMS.join(', ') })
    .describe('How tokens may be signed.'),
  'oauthbearer.clock.skew.seconds': integerSetting({ min: 0, max: 300 })
    .default(30)
    .describe('How far the clocks of the issuer and of this machine may differ.'),
  'oauthbearer.sub.claim.name': text('sub').describe('Claim with the name of the user, which is then `oidc:NAME`.'),
  'oauthbearer.roles.claim.name': text('roles').describe(
    'Claim with the roles of the user; `realm_access.roles` is a claim in another.',
  ),
  'oauthbearer.roles.mapping': z
    .string()
    .default('')
    .transform(commaSeparated)
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[^=]+=\w+$/, 'expected WORD=ROLE')
          .transform(mappingOf),
      ),
    )
    .meta({ takes: 'a list of WORD=ROLE' })
    .describe('What the words of that claim mean; `*=readonly` is for every token. None: they are roles themselves.'),
  'oauthbearer.groups.claim.name': text('groups').describe('Claim with the groups that permissions are given to.'),
  'oauthbearer.ssl.truststore.location': text().describe(
    'Certificates that the issuer is trusted by, PEM; read again when it changes. None: those of Node.js.',
  ),
}

export type AccessControlSettings = z.infer<z.ZodObject<typeof accessControlShape>> & {
  readonly 'authentication.realm': string
}

/** What the page of a program says of these settings. */
export const ACCESS_CONTROL_DESCRIPTIONS = Object.fromEntries(
  Object.entries(accessControlShape).map(([key, type]) => [key, type.description ?? '']),
) as Readonly<Record<keyof typeof accessControlShape, string>>

export function requiresAuthentication({
  'authentication.method': methods,
}: Pick<AccessControlSettings, 'authentication.method'>): boolean {
  return !methods.includes('NONE')
}

/** Why settings of a log-in contradict each other; undefined when they don't. */
export function accessControlSettingsError(settings: AccessControlSettings): string | undefined {
  const methods = settings['authentication.method']
  const users = [settings['weir.authentication.users'], settings['weir.authentication.users.file']].filter(Boolean)
  if (methods.length > 1 && methods.includes('NONE')) {
    return `authentication.method=${methods.join(',')}: NONE can't be combined with another method`
  }
  if (methods.includes('BASIC') && users.length !== 1) {
    return 'authentication.method=BASIC needs weir.authentication.users.file, or else weir.authentication.users: who may come in'
  }
  if (!requiresAuthentication(settings) && settings['weir.authorization.permissions.file'] !== '') {
    return 'weir.authorization.permissions.file needs authentication.method=BASIC or BEARER: permissions are those of people who log in'
  }
  return methods.includes('BEARER') ? issuerContradiction(settings) : undefined
}

function issuerContradiction(settings: AccessControlSettings): string | undefined {
  if (settings['oauthbearer.expected.audience'].length === 0) {
    return 'authentication.method=BEARER needs oauthbearer.expected.audience: tokens made for others would be taken'
  }
  const urls = ['oauthbearer.expected.issuer', 'oauthbearer.jwks.endpoint.url'] as const
  const wrong = urls.find((key) => !isTrustworthy(settings[key]) && !(key.includes('jwks') && settings[key] === ''))
  if (wrong === undefined) return undefined
  return `authentication.method=BEARER needs ${wrong} on https (or on http at this machine's own address): on the way of plain HTTP keys can be replaced`
}

/** Undefined when everybody may come in. */
export function openAuthentication(
  settings: AccessControlSettings,
  logger: Logger,
): { readonly authentication: Authentication; close(): void } | undefined {
  if (!requiresAuthentication(settings)) return undefined
  const users = openUsers(settings, logger)
  const tokens = openTokens(settings, logger)
  const passwords = users && new PasswordAuthenticator(users)
  return {
    authentication: new Authentication({ realm: settings['authentication.realm'], passwords, tokens: tokens?.logIn }),
    close: () => {
      users?.close()
      tokens?.close()
    },
  }
}

function openTokens(
  settings: AccessControlSettings,
  logger: Logger,
): { logIn: TokenAuthenticator; close(): void } | undefined {
  if (!settings['authentication.method'].includes('BEARER')) return undefined
  const trusted = openTrusted(settings['oauthbearer.ssl.truststore.location'], logger)
  const issuer = settings['oauthbearer.expected.issuer']
  const keys = new TokenKeys({
    issuer,
    keysUrl: settings['oauthbearer.jwks.endpoint.url'] || undefined,
    refreshMs: settings['oauthbearer.jwks.endpoint.refresh.ms'],
    fetch: (url) => boundedFetch(url, trusted.current),
    nowMs: () => performance.now(),
  })
  const logIn = new TokenAuthenticator({
    issuer,
    audiences: settings['oauthbearer.expected.audience'],
    algorithms: settings['oauthbearer.algorithms'],
    clockSkewSeconds: settings['oauthbearer.clock.skew.seconds'],
    claims: {
      name: settings['oauthbearer.sub.claim.name'],
      roles: settings['oauthbearer.roles.claim.name'],
      groups: settings['oauthbearer.groups.claim.name'],
    },
    roles: settings['oauthbearer.roles.mapping'],
    keys,
  })
  return { logIn, close: trusted.close }
}

function openTrusted(file: string, logger: Logger): { current(): string | undefined; close(): void } {
  if (file === '') return { current: () => undefined, close: () => {} }
  const read = () => {
    tlsMaterial({ 'ssl.truststore.location': file })
    return readFileSync(file, 'utf8')
  }
  return watchContent({ files: [file], read, logger })
}

function mappingOf(entry: string, context: z.core.$RefinementCtx): readonly [word: string, role: Role] {
  const at = entry.lastIndexOf('=')
  const role = ROLES.find((one) => one === entry.slice(at + 1))
  if (role !== undefined) return [entry.slice(0, at), role]
  context.addIssue({ code: 'custom', message: `expected WORD=ROLE with a role of ${ROLES.join(', ')}` })
  return z.NEVER
}
