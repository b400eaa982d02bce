{{/* Settings of the REST server of a separate runtime. Takes (root, runtime, prefix of TLS settings). */}}
{{- define "weir.restSettings" -}}
{{- $name := index . 1 -}}
{{- $values := index (index . 0).Values $name -}}
listeners: {{ include "weir.scheme" . }}://0.0.0.0:{{ include "weir.port" $name }}
{{- if $values.tls.secretName }}
{{ index . 2 }}ssl.keystore.location: /etc/weir/{{ $name }}-tls/tls-combined.pem
{{ index . 2 }}ssl.truststore.location: /etc/weir/{{ $name }}-tls/ca.crt
{{- end }}
{{- if or $values.users.secretName $values.oidc.issuer }}
authentication.method: {{ concat (ternary (list "BASIC") list (ne $values.users.secretName "")) (ternary (list "BEARER") list (ne $values.oidc.issuer "")) | join "," }}
{{- end }}
{{- if $values.users.secretName }}
weir.authentication.users.file: /etc/weir/{{ $name }}-users/users
{{- end }}
{{- if $values.oidc.issuer }}
oauthbearer.expected.issuer: {{ $values.oidc.issuer | quote }}
oauthbearer.expected.audience: {{ $values.oidc.audience | quote }}
{{- end }}
{{- if $values.permissions.configMapName }}
weir.authorization.permissions.file: /etc/weir/{{ $name }}-permissions/permissions.yaml
{{- end }}
{{- if $values.audit.enabled }}
audit.log.file: stdout
{{- end }}
{{- end -}}

{{/* Settings of the registry, as a YAML map. */}}
{{- define "weir.registrySettings" -}}
{{- $settings := dict "listeners" "http://0.0.0.0:8081" -}}
{{- if eq .Values.runtimes "Separate" -}}
{{- $settings = include "weir.restSettings" (list . "registry" "") | fromYaml -}}
{{- $_ := set $settings "inter.instance.protocol" (include "weir.scheme" (list . "registry")) -}}
{{- with .Values.kafka.bootstrapServers -}}{{- $_ := set $settings "brokerstore.bootstrap.servers" . -}}{{- end -}}
{{- range $key, $value := include "weir.kafkaSettings" . | fromYaml -}}{{- $_ := set $settings (printf "brokerstore.%s" $key) $value -}}{{- end -}}
{{- end -}}
{{- merge (deepCopy .Values.registry.properties) $settings | toYaml -}}
{{- end -}}

{{/* Settings of the worker, as a YAML map. */}}
{{- define "weir.workerSettings" -}}
{{- $group := .Values.worker.groupId -}}
{{- $settings := dict "listeners" "http://0.0.0.0:8083" -}}
{{- if eq .Values.runtimes "Separate" -}}
{{- $settings = include "weir.restSettings" (list . "worker" "listeners.https.") | fromYaml -}}
{{- with .Values.kafka.bootstrapServers -}}{{- $_ := set $settings "bootstrap.servers" . -}}{{- end -}}
{{- $settings = merge $settings (include "weir.kafkaSettings" . | fromYaml) -}}
{{- if .Values.registry.enabled -}}
{{- $_ := set $settings "key.converter" "StringConverter" -}}
{{- $_ := set $settings "value.converter" "AvroConverter" -}}
{{- $_ := set $settings "value.converter.schema.registry.url" (include "weir.url" (list . "registry")) -}}
{{- end -}}
{{- /* Names of the registry that differ from the defaults, which the worker denies to connectors by itself. */ -}}
{{- $own := .Values.registry.properties -}}
{{- $topics := list -}}
{{- range list "brokerstore.topic" "kafkastore.topic" "dek.registry.topic" -}}{{- with index $own . -}}{{- $topics = append $topics . -}}{{- end -}}{{- end -}}
{{- if $topics -}}{{- $_ := set $settings "connector.topics.denied" (concat (list "connect-configs" "connect-offsets" "connect-status" "_schemas" "_dek_registry_keys") $topics | join ",") -}}{{- end -}}
{{- with index $own "schema.registry.group.id" -}}{{- $_ := set $settings "connector.groups.denied" (list "connect-cluster" "schema-registry" . | join ",") -}}{{- end -}}
{{- end -}}
{{- $_ := set $settings "group.id" $group -}}
{{- range list "config" "offset" "status" -}}{{- $_ := set $settings (printf "%s.storage.topic" .) (printf "%s-%s" $group (ternary "status" (printf "%ss" .) (eq . "status"))) -}}{{- end -}}
{{- if .Values.worker.secretNamespaces -}}
{{- $_ := set $settings "config.providers" "secret" -}}
{{- $_ := set $settings "config.providers.secret.class" "KubernetesSecretConfigProvider" -}}
{{- end -}}
{{- with .Values.worker.java -}}{{- if .enabled -}}{{- $_ := set $settings "java.host.heap.max" (printf "%dm" (int .heapMebibytes)) -}}{{- end -}}{{- end -}}
{{- with include "weir.pluginPath" . -}}{{- $_ := set $settings "plugin.path" . -}}{{- end -}}
{{- /* With users, the worker's default of connector.urls.denied is stricter. */ -}}
{{- if not .Values.worker.users.secretName -}}{{- $_ := set $settings "connector.urls.denied" "link-local,metadata" -}}{{- end -}}
{{- merge (deepCopy .Values.worker.properties) $settings | toYaml -}}
{{- end -}}

{{/* Folders with plugins. */}}
{{- define "weir.pluginPath" -}}
{{- $paths := list -}}
{{- with .Values.worker.plugins -}}
{{- if .npm.packages -}}{{- $paths = append $paths "/plugins/npm" -}}{{- end -}}
{{- if .maven.artifacts -}}{{- $paths = append $paths "/plugins/maven" -}}{{- end -}}
{{- range .configMaps -}}{{- $paths = append $paths (printf "/plugins/config-maps/%s" .) -}}{{- end -}}
{{- range $at, $_ := .images -}}{{- $paths = append $paths (printf "/plugins/images/%d" $at) -}}{{- end -}}
{{- range .claims -}}{{- $paths = append $paths (printf "/plugins/claims/%s" .) -}}{{- end -}}
{{- end -}}
{{- join "," $paths -}}
{{- end -}}

{{/* The settings of a program, as the data of its ConfigMap. Takes (root, program). */}}
{{- define "weir.config" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- if eq $program "operator" -}}
operator.yaml: |
  {{- include "weir.operatorConfig" $root | nindent 2 }}
{{- else -}}
{{ $program }}.properties: |
{{- range $key, $value := include (printf "weir.%sSettings" $program) $root | fromYaml }}
  {{ $key }}={{ $value | replace "\\" "\\\\" | replace "\n" "\\n" }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The operator's configuration. Separate runtimes are entries with the name default. */}}
{{- define "weir.operatorConfig" -}}
apiVersion: config.weir.dev/v1alpha1
kind: OperatorConfig
{{- with .Values.operator.instance }}
instance: {{ . | quote }}
{{- end }}
allowInlineSecrets: {{ .Values.operator.allowInlineSecrets }}
watchNamespaces: {{ include "weir.watched" . | fromYamlArray | toJson }}
{{- range $runtime, $plural := dict "worker" "workers" "registry" "registries" }}
{{- $entries := index $.Values.operator $plural }}
{{- if and (eq $.Values.runtimes "Separate") (index $.Values $runtime).enabled }}
{{- $entries = prepend $entries (include "weir.entry" (list $ $runtime) | fromYaml) }}
{{- end }}
{{ $plural }}:
  {{- toYaml $entries | nindent 2 }}
{{- end }}
{{- end -}}

{{/* URL and credentials with which the operator calls a separate runtime. Takes (root, runtime). */}}
{{- define "weir.entry" -}}
{{- $runtime := index . 1 -}}
{{- $root := index . 0 -}}
{{- $values := index $root.Values $runtime -}}
name: default
url: {{ include "weir.url" . }}
allowedNamespaces: { from: All }
{{- if $values.users.secretName }}
auth:
  type: basic
  usernameFile: /etc/weir/{{ $runtime }}-users/username
  passwordFile: /etc/weir/{{ $runtime }}-users/password
{{- else if $values.oidc.tokenSecretName }}
auth:
  type: bearer
  tokenFile: /etc/weir/{{ $runtime }}-token/token
{{- end }}
{{- if $values.tls.secretName }}
tls: { caFile: /etc/weir/{{ $runtime }}-tls/ca.crt }
{{- end }}
{{- if eq $runtime "worker" }}
podSelector: app.kubernetes.io/instance={{ $root.Release.Name }},app.kubernetes.io/component=worker
{{- end }}
{{- end -}}
