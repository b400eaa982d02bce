{{/* Fails on combinations of values that are invalid. */}}
{{- define "weir.check" -}}
{{- with .Values -}}
{{- if eq .runtimes "Embedded" -}}
{{- if not (or .kafka.bootstrapServers .kafka.kafkaRef.name .kafka.embedded.enabled) -}}{{- fail "kafka.bootstrapServers is empty: set it to the brokers (HOST:PORT,…), or set kafka.embedded.enabled=true to try Weir without Kafka" -}}{{- end -}}
{{- if not (and .registry.enabled .worker.enabled) -}}{{- fail "runtimes=Embedded always runs both a registry and a worker: to set registry.enabled=false or worker.enabled=false, set runtimes=Separate" -}}{{- end -}}
{{- if or .registry.tls.secretName .registry.users.secretName .worker.tls.secretName .worker.users.secretName -}}{{- fail "embedded runtimes support neither TLS nor authentication: registry.tls, registry.users, worker.tls and worker.users need runtimes=Separate" -}}{{- end -}}
{{- range $runtime := list "registry" "worker" -}}
{{- $values := index $.Values $runtime -}}
{{- if or $values.oidc.issuer $values.permissions.configMapName $values.audit.enabled -}}{{- fail (printf "embedded runtimes do not support authentication: %s.oidc, %s.permissions and %s.audit need runtimes=Separate" $runtime $runtime $runtime) -}}{{- end -}}
{{- end -}}
{{- else -}}
{{- if .kafka.embedded.enabled -}}{{- fail "only embedded runtimes can use the embedded broker: kafka.embedded.enabled=true needs runtimes=Embedded" -}}{{- end -}}
{{- if and (or .registry.enabled .worker.enabled) (not (or .kafka.bootstrapServers .kafka.kafkaRef.name)) -}}{{- fail "kafka.bootstrapServers is empty: set it to the brokers (HOST:PORT,…)" -}}{{- end -}}
{{- end -}}
{{- if and .kafka.embedded.enabled .kafka.bootstrapServers -}}{{- fail "kafka.bootstrapServers and kafka.embedded.enabled=true exclude each other: set only one of them" -}}{{- end -}}
{{- if and .kafka.kafkaRef.name (or .kafka.bootstrapServers .kafka.embedded.enabled .kafka.tls.enabled .kafka.sasl.mechanism) -}}{{- fail "kafka.kafkaRef names a Kafka with its addresses and certificates, so it excludes kafka.bootstrapServers, kafka.embedded, kafka.tls and kafka.sasl" -}}{{- end -}}
{{- if and .kafka.userRef.name (not .kafka.kafkaRef.name) -}}{{- fail "kafka.userRef needs kafka.kafkaRef, the Kafka of that user" -}}{{- end -}}
{{- if and .kafka.kafkaRef.name (eq .worker.autoscaling.kind "KEDA") -}}{{- fail "worker.autoscaling.kind=KEDA needs kafka.bootstrapServers: KEDA cannot read kafka.kafkaRef" -}}{{- end -}}
{{- if and .kafka.embedded.enabled (ne (int .operator.replicas) 1) -}}{{- fail "the embedded broker runs in a single process: kafka.embedded.enabled=true needs operator.replicas=1" -}}{{- end -}}
{{- if and .operator.allowInlineSecrets (not .operator.watchSecrets) -}}{{- fail "operator.allowInlineSecrets=true needs operator.watchSecrets=true, which permits the operator to read Secrets" -}}{{- end -}}
{{- if and .kafka.sasl.mechanism (not .kafka.sasl.secretName) -}}{{- fail "kafka.sasl.mechanism needs kafka.sasl.secretName, the Secret with the user name and password" -}}{{- end -}}
{{- if and .worker.plugins.maven.artifacts (not .worker.java.enabled) -}}{{- fail "worker.plugins.maven.artifacts needs worker.java.enabled=true: Java plugins need the image with Java" -}}{{- end -}}
{{- if and .worker.java.enabled .image.digest (not .worker.java.digest) (not .worker.java.tag) -}}{{- fail "worker.java.enabled=true needs worker.java.digest: image.digest is that of the image without Java" -}}{{- end -}}
{{- if and (eq .webhook.certificates "Secret") (not .webhook.secretName) -}}{{- fail "webhook.certificates=Secret needs webhook.secretName, the Secret with tls.crt, tls.key and ca.crt" -}}{{- end -}}
{{- if and .console.anonymous (not .console.enabled) -}}{{- fail "console.anonymous=true needs console.enabled=true" -}}{{- end -}}
{{- range $runtime := list "registry" "worker" -}}
{{- $values := index $.Values $runtime -}}
{{- if and $values.oidc.issuer (not $values.oidc.audience) -}}{{- fail (printf "%s.oidc.issuer needs %s.oidc.audience: without it, tokens issued for other services would be accepted" $runtime $runtime) -}}{{- end -}}
{{- if and $values.oidc.issuer (not $values.users.secretName) (not $values.oidc.tokenSecretName) -}}{{- fail (printf "%s.oidc.issuer needs %s.oidc.tokenSecretName or %s.users.secretName: the credentials of the operator" $runtime $runtime $runtime) -}}{{- end -}}
{{- if and $values.permissions.configMapName (not $values.users.secretName) (not $values.oidc.issuer) -}}{{- fail (printf "%s.permissions needs %s.users or %s.oidc: permissions apply to authenticated users only" $runtime $runtime $runtime) -}}{{- end -}}
{{- if and (eq $values.autoscaling.kind "HPA") (not ($values.resources.requests).cpu) -}}{{- fail (printf "%s.autoscaling.kind=HPA needs %s.resources.requests.cpu: the target utilization is a percentage of it" $runtime $runtime) -}}{{- end -}}
{{- end -}}
{{- if and (eq .worker.autoscaling.kind "KEDA") (not .worker.autoscaling.lag) -}}{{- fail "worker.autoscaling.kind=KEDA needs worker.autoscaling.lag: the connectors whose lag it uses" -}}{{- end -}}
{{- end -}}
{{- end -}}
