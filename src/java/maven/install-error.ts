import { UserError } from '../../common/errors.ts'

/** Why Apache Maven Resolver could not provide a plugin. */
export type InstallErrorCode =
  | 'artifact_not_found'
  | 'checksum_mismatch'
  | 'install_limit'
  | 'invalid_maven_settings'
  | 'invalid_pom'
  | 'repository_unavailable'

/** A plugin that cannot be installed. */
export class InstallError extends UserError<InstallErrorCode> {
  override readonly name = 'InstallError'
}
