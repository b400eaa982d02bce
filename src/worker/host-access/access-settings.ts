import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { requiresAuthentication } from '../../http/access-control-settings.ts'
import type { WorkerSettings } from '../settings.ts'
import { AddressRules, DENIED_BY_DEFAULT } from './address-rules.ts'
import type { ConnectorAccess } from './connector-access.ts'

/** Weir's own code and its libraries. */
const CODE = resolve(import.meta.dirname, '../..')
const INSTALLATION = [CODE, ...['node_modules', 'package.json'].map((name) => join(CODE, '..', name))]

/** Holds the environment and the open files of every process, and where pods find their tokens. */
const SYSTEM = ['/proc', '/sys', '/var/run/secrets/kubernetes.io', '/run/secrets/kubernetes.io']

/**
 * Without a log-in everybody who reaches the worker may do everything, so nothing is restricted unless a setting asks for it.
 * `ownFiles`: the configuration file and the data directory, which only the caller knows. Throws a `UserError` for an entry
 * that can't be read.
 */
export function connectorAccess(settings: WorkerSettings, ownFiles: readonly string[] = []): ConnectorAccess {
  const { values } = settings
  const classes = { allowed: values['connector.classes.allowed'], denied: values['connector.classes.denied'] }
  const isGuarded = requiresAuthentication(values)
  const paths = values['connector.paths.allowed']
  const urls = { allowed: values['connector.urls.allowed'], denied: values['connector.urls.denied'] }
  const listeners = values['connector.listeners.allowed']
  const isRestricted = [paths, urls.allowed, urls.denied, listeners].some((setting) => setting !== undefined)
  if (!isGuarded && !isRestricted) return { classes, host: undefined, ownVariables: [] }
  const addresses = { allowed: urls.allowed, denied: urls.denied ?? (isGuarded ? DENIED_BY_DEFAULT : []) }
  // Wrong entries are the worker's to refuse, not its tasks'.
  void new AddressRules(addresses)
  return {
    classes,
    ownVariables: settings.ownVariables ?? [],
    host: {
      paths: {
        allowed: paths ?? (isGuarded ? [] : undefined),
        own: [...ownFilesOf(settings), ...ownFiles.map((path) => resolve(path))],
      },
      addresses,
      listeners: { allowed: listeners, ownPorts: ownPorts(settings) },
    },
  }
}

/** Every file that a setting names, the plugins, the programs, and what stands for the identity of the process. */
function ownFilesOf({ values, rest }: WorkerSettings): readonly string[] {
  const named = Object.entries({ ...values, ...rest })
    .filter(([key, value]) => FILE_SETTING.test(key) && typeof value === 'string' && value !== '')
    .map(([, value]) => resolve(String(value)))
  const variables = ['KUBECONFIG', 'GOOGLE_APPLICATION_CREDENTIALS', 'AWS_WEB_IDENTITY_TOKEN_FILE']
  const pointed = variables.flatMap((name) => (process.env[name] ?? '').split(':')).filter((path) => isAbsolute(path))
  const plugins = values['plugin.path'].map((path) => resolve(path))
  return [...named, ...pointed, ...plugins, ...kubeDirectories(), ...INSTALLATION, ...SYSTEM]
}

/** The user of a container may have no entry in /etc/passwd: without HOME it has no home directory then. */
function kubeDirectories(): readonly string[] {
  try {
    return [join(homedir(), '.kube')]
  } catch {
    return []
  }
}

const FILE_SETTING = /\.(?:file|location)$/

function ownPorts({ values }: WorkerSettings): readonly number[] {
  const listeners = [...values.listeners, ...(values['admin.listeners'] ?? [])]
  const ports = listeners.map((listener) => Number(/:(\d+)\/?$/.exec(listener)?.[1] ?? 0))
  return [...ports, values['rest.advertised.port'] ?? 0].filter((port) => port > 0)
}
