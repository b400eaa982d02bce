import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { watchContent } from '../common/file-watcher.ts'
import type { Logger } from '../common/logging/logger.ts'
import { commaSeparated, integerSetting, listSetting } from '../config/settings.ts'
import { tlsMaterial } from '../tls/tls-material.ts'
import { Authentication } from './authentication.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { PasswordAuthenticator } from './password-authenticator.ts'
import { TokenAuthenticator } from './token-authenticator.ts'
import { isSecureUrl, TokenKeys } from './token-keys.ts'
import { openUsers, ROLES, type Role } from './users.ts'

const METHODS = ['NONE', 'BASIC', 'BEARER'] as const
/** Asymmetric signatures. With a symmetric algorithm, everyone who can verify a token could also sign one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const
const text = (fallback = '') => z.string().trim().default(fallback)

/** Settings of authentication and authorization, shared by registry and worker. Those of tokens have Confluent's names. */
export const accessControlShape = {
  'authentication.method': z
    .string()
    .default('NONE')
    .transform((methods) => commaSeparated(methods.toUpperCase()))
    .pipe(z.array(z.enum(METHODS, `expected some of ${METHODS.join(', ')}`)).min(1, 'expected a method'))
    .meta({ takes: METHODS.join(', ') })
    .describe('How clients authenticate: `NONE`, `BASIC`, `BEARER` or `BASIC,BEARER`.'),
  'weir.authentication.users.file': text().describe(
    'File of users, one line `NAME: HASH, ROLE` each, as printed by `weir password`. Reloaded when it changes.',
  ),
  'weir.authentication.users': text().describe('The lines of that file as a value, for an environment without files.'),
  'weir.authorization.permissions.file': text().describe(
    'YAML file with the permissions of roles, users and groups. Reloaded when it changes. Empty: the default permissions of the roles.',
  ),
  'oauthbearer.expected.issuer': text().describe('URL of the issuer of bearer tokens; must be https.'),
  'oauthbearer.expected.audience': listSetting()
    .default([])
    .describe('Accepted audiences: the `aud` claim of a token must contain one of them.'),
  'oauthbearer.jwks.endpoint.url': text().describe(
    "URL of the issuer's keys (JWKS). Empty: taken from its `/.well-known/openid-configuration`.",
  ),
  'oauthbearer.jwks.endpoint.refresh.ms': integerSetting({ min: 1_000 })
    .default(3_600_000)
    .describe('Time after which the keys are fetched again. A token with an unknown key causes an immediate fetch.'),
  'oauthbearer.algorithms': z
    .string()
    .default(ALGORITHMS.join(','))
    .transform(commaSeparated)
    .pipe(z.array(z.enum(ALGORITHMS, `expected some of ${ALGORITHMS.join(', ')}`)).min(1))
    .meta({ takes: ALGORITHMS.join(', ') })
    .describe('Accepted signature algorithms of tokens.'),
  'oauthbearer.clock.skew.seconds': integerSetting({ min: 0, max: 300 })
    .default(30)
    .describe('Accepted difference between the clocks of the issuer and of this machine.'),
  'oauthbearer.sub.claim.name': text('sub').describe(
    'Claim with the name of the user. The user is known as `oidc:NAME`.',
  ),
  'oauthbearer.roles.claim.name': text('roles').describe(
    'Claim with the roles of the user. A dot selects a nested claim, as in `realm_access.roles`.',
  ),
  'oauthbearer.roles.mapping': z
    .string()
    .default('')
    .transform(commaSeparated)
    .pipe(
      z.array(
        z
          .string()
          .regex(/^[^=]+=\w+$/, 'expected VALUE=ROLE')
          .transform(mappingOf),
      ),
    )
    .meta({ takes: 'a list of VALUE=ROLE' })
    .describe(
      'Roles for the values of that claim; `*=readonly` applies to every token. Empty: the values are names of roles.',
    ),
  'oauthbearer.groups.claim.name': text('groups').describe(
    'Claim with the groups of the user, to which permissions can be granted.',
  ),
  'oauthbearer.ssl.truststore.location': text().describe(
    'PEM file with the certificates that are trusted for the issuer. Reloaded when it changes. Empty: those of Node.js.',
  ),
}

export type AccessControlSettings = z.infer<z.ZodObject<typeof accessControlShape>> & {
  readonly 'authentication.realm': string
}

/** Descriptions of these settings for generated pages. */
export const ACCESS_CONTROL_DESCRIPTIONS = Object.fromEntries(
  Object.entries(accessControlShape).map(([key, type]) => [key, type.description ?? '']),
) as Readonly<Record<keyof typeof accessControlShape, string>>

export function requiresAuthentication({
  'authentication.method': methods,
}: Pick<AccessControlSettings, 'authentication.method'>): boolean {
  return !methods.includes('NONE')
}

/** Explains why the settings contradict each other; undefined if they do not. */
export function accessControlSettingsError(settings: AccessControlSettings): string | undefined {
  const methods = settings['authentication.method']
  const users = [settings['weir.authentication.users'], settings['weir.authentication.users.file']].filter(Boolean)
  if (methods.length > 1 && methods.includes('NONE')) {
    return `authentication.method=${methods.join(',')}: NONE cannot be combined with another method`
  }
  if (methods.includes('BASIC') && users.length !== 1) {
    return 'authentication.method=BASIC requires either weir.authentication.users.file or weir.authentication.users'
  }
  if (!requiresAuthentication(settings) && settings['weir.authorization.permissions.file'] !== '') {
    return 'weir.authorization.permissions.file requires authentication.method=BASIC or BEARER: permissions apply to authenticated users'
  }
  return methods.includes('BEARER') ? issuerContradiction(settings) : undefined
}

function issuerContradiction(settings: AccessControlSettings): string | undefined {
  if (settings['oauthbearer.expected.audience'].length === 0) {
    return 'authentication.method=BEARER requires oauthbearer.expected.audience: otherwise tokens issued for other services would be accepted'
  }
  const urls = ['oauthbearer.expected.issuer', 'oauthbearer.jwks.endpoint.url'] as const
  const wrong = urls.find((key) => !isSecureUrl(settings[key]) && !(key.includes('jwks') && settings[key] === ''))
  if (wrong === undefined) return undefined
  return `authentication.method=BEARER requires an https URL for ${wrong} (or http on a loopback address): over plain HTTP, keys could be replaced in transit`
}

/** Undefined without authentication. */
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
  const authenticator = new TokenAuthenticator({
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
  return { logIn: authenticator, close: trusted.close }
}

function openTrusted(file: string, logger: Logger): { current(): string | undefined; close(): void } {
  if (file === '') return { current: () => undefined, close: () => {} }
  const read = () => {
    tlsMaterial({ 'ssl.truststore.location': file })
    return readFileSync(file, 'utf8')
  }
  return watchContent({ files: [file], read, logger })
}

function mappingOf(entry: string, context: z.core.$RefinementCtx): readonly [value: string, role: Role] {
  const at = entry.lastIndexOf('=')
  const role = ROLES.find((one) => one === entry.slice(at + 1))
  if (role !== undefined) return [entry.slice(0, at), role]
  context.addIssue({ code: 'custom', message: `expected VALUE=ROLE with a role of ${ROLES.join(', ')}` })
  return z.NEVER
}
